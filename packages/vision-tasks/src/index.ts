export type { Cell, ChartProgram } from './charts/program.ts';
export type { MapProgram } from './maps/ask-map.ts';
export { type KnownVisionTaskSet, visionTaskSets } from './registry.ts';
export type { SceneProgram } from './scenes/ask-scene.ts';
export type { Change, ChangeKind } from './scenes/change.ts';
export type { ScienceProgram } from './science/figure.ts';
export { type ChartFacts, chartsQa } from './task-sets/charts-qa.ts';
export { type CountAndFindFacts, countAndFind } from './task-sets/count-and-find.ts';
export type { DocumentFacts } from './documents/document-task.ts';
export { documents } from './task-sets/documents.ts';
export { type GeometryFacts, geometrySolve } from './task-sets/geometry-solve.ts';
export { type MapFacts, maps } from './task-sets/maps.ts';
export { type ScienceFacts, science } from './task-sets/science.ts';
export {
  type DifferenceFacts,
  type DifferenceProgram,
  spotTheDifference,
} from './task-sets/spot-the-difference.ts';
