export { asynchronous } from './asynchronous.ts';
export { difficultyPrefilter } from './difficulty-prefilter.ts';
export { dynamicSampling } from './dynamic-sampling.ts';
export { oversampleFilterRank } from './oversample-filter-rank.ts';
export { synchronous } from './synchronous.ts';
export { tailPatch } from './tail-patch.ts';
