export {
  type AnalysisOptions,
  analyzeCode,
  analyzeTrajectory,
  type InputImage,
  promptImages,
  type TurnCode,
} from './analyze.ts';
export type { Attempt } from './attempts.ts';
export {
  type Affine,
  applyAffine,
  type Box,
  composeAffine,
  identity,
  intersectionOverUnion,
  invertAffine,
  isBox,
  mapBox,
} from './geometry.ts';
export {
  type BoxProblem,
  familyOf,
  type NoOpReason,
  type Operation,
  type OperationFamily,
  type OperationKind,
  type ShownImage,
  type TurnToolUse,
} from './operation.ts';
