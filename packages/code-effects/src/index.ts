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
export type { BoxProblem, NoOpReason, Operation, ShownImage, TurnToolUse } from './operation.ts';
export { familyOf, type OperationFamily, type OperationKind } from './operation-kind.ts';
export { type EffectThresholds, effectThresholds } from './thresholds.ts';
