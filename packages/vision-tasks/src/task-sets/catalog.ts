export { chartsQa } from './charts-qa.ts';
export { geometrySolve } from './geometry-solve.ts';
