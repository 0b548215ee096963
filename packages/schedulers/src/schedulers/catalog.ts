export { oversampleFilterRank } from './oversample-filter-rank.ts';
export { synchronous } from './synchronous.ts';
