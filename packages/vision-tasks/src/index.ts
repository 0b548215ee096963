export type { Cell, ChartProgram } from './charts/program.ts';
export { type KnownVisionTaskSet, visionTaskSets } from './registry.ts';
export { type ChartFacts, chartsQa } from './task-sets/charts-qa.ts';
export { type GeometryFacts, geometrySolve } from './task-sets/geometry-solve.ts';
