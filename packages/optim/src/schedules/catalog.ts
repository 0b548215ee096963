export { constant } from './constant.ts';
export { cosine } from './cosine.ts';
export { linear } from './linear.ts';
export { warmupStableDecay } from './warmup-stable-decay.ts';
