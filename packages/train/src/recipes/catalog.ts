export { codedanceNano } from './codedance-nano.ts';
export { codevisionNano } from './codevision-nano.ts';
export { pyvisionImageNano } from './pyvision-image-nano.ts';
export { smoke } from './smoke.ts';
