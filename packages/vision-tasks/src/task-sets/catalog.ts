export { chartsQa } from './charts-qa.ts';
export { countAndFind } from './count-and-find.ts';
export { documents } from './documents.ts';
export { geometrySolve } from './geometry-solve.ts';
export { maps } from './maps.ts';
export { science } from './science.ts';
export { spotTheDifference } from './spot-the-difference.ts';
