export { codedanceNano } from './codedance-nano.ts';
export { codevisionNano } from './codevision-nano.ts';
export { pyvisionImageNano } from './pyvision-image-nano.ts';
export { pyvisionVideoNano } from './pyvision-video-nano.ts';
export { smoke } from './smoke.ts';
export { videoUniformNano } from './video-uniform-nano.ts';
export { vistaNano } from './vista-nano.ts';
