export type { Cell, ChartProgram } from './charts/program.ts';
export type { DocumentFacts } from './documents/document-task.ts';
export type { LedgerProgram } from './handwriting/ask-ledger.ts';
export type { MapProgram } from './maps/ask-map.ts';
export { type OrientationOptions, orientationOf } from './orientation/orientation-of.ts';
export { fiveTurns, type Pose, poses, sixPoses } from './orientation/pose.ts';
export type { PoseFacts } from './orientation/posed-task.ts';
export { type KnownVisionTaskSet, visionTaskSets } from './registry.ts';
export type { RoomProgram } from './rooms/ask-room.ts';
export type { SceneProgram } from './scenes/ask-scene.ts';
export type { Change, ChangeKind } from './scenes/change.ts';
export type { ScienceProgram } from './science/figure.ts';
export type { WallProgram } from './search/ask-wall.ts';
export type { SearchFacts } from './search/define-search.ts';
export type { PrintProgram } from './small-print/ask-small-print.ts';
export { type ChartFacts, chartsQa } from './task-sets/charts-qa.ts';
export { type CountAndFindFacts, countAndFind } from './task-sets/count-and-find.ts';
export { type CountingFacts, type CountingProgram, counting } from './task-sets/counting.ts';
export { documents } from './task-sets/documents.ts';
export { documents8mp } from './task-sets/documents-8mp.ts';
export { type GeometryFacts, geometrySolve } from './task-sets/geometry-solve.ts';
export { type HandwritingFacts, handwriting } from './task-sets/handwriting.ts';
export { type MapFacts, maps } from './task-sets/maps.ts';
export { type MvtoolFacts, mvtool } from './task-sets/mvtool.ts';
export { type RoomsVideoFacts, roomsVideo } from './task-sets/rooms-video.ts';
export { type ScienceFacts, science } from './task-sets/science.ts';
export { search4k } from './task-sets/search-4k.ts';
export { search8k } from './task-sets/search-8k.ts';
export {
  type DifferenceFacts,
  type DifferenceProgram,
  spotTheDifference,
} from './task-sets/spot-the-difference.ts';
export { orientation } from './wrappers/orientation.ts';
export { type DiagnosticFacts, orientationDiagnostic } from './wrappers/orientation-diagnostic.ts';
