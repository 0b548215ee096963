export { pyvisionImageNano } from './pyvision-image-nano.ts';
export { smoke } from './smoke.ts';
