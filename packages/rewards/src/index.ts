export type { Judged, ScoringTask } from './context.ts';
export {
  type ContextOptions,
  makeContext,
} from './context.ts';
export {
  type PresetTerm,
  type PresetVariant,
  type RewardPreset,
  term,
  termsOf,
} from './preset.ts';
export {
  type Constant,
  type Constants,
  type Provenance,
  type Sourced,
  sourced,
  type Variants,
  valuesOf,
} from './provenance.ts';
export { presetNamed, presets, presetTerms, rewards, verifiers } from './registry.ts';
export type {
  AnyReward,
  GroupReward,
  Reward,
  RewardContext,
  TurnReward,
  Verifier,
} from './reward.ts';
export { accumulativeTool } from './rewards/accumulative-tool.ts';
export { accuracy } from './rewards/accuracy.ts';
export {
  type BalancedToolCallOptions,
  balancedToolCall,
  balancedToolCallVariants,
  balancedToolCallWith,
  toolCallIncentive,
} from './rewards/balanced-tool-call.ts';
export { measureRepetition, type Repetition } from './rewards/measure-repetition.ts';
export { type OverlongOptions, softOverlong } from './rewards/overlong.ts';
export { overlongCapped, overlongCappedWith } from './rewards/overlong-capped.ts';
export { overlongUncapped, overlongUncappedWith } from './rewards/overlong-uncapped.ts';
export { type Redline, redlinesOf } from './rewards/redlines.ts';
export {
  RewardError,
  type RewardTerm,
  type ScoredGroupResult,
  type Scoring,
  scoreGroup,
  scoreTrajectory,
} from './score.ts';
export { type TaskFacts, taskFacts } from './task-facts.ts';
export {
  type AnalysisOptions,
  analyseCode,
  analyseTrajectory,
  type InputPicture,
  promptPictures,
  type TurnCode,
} from './tool-use/analyse.ts';
export {
  type Affine,
  applyAffine,
  type Box,
  boxIou,
  composeAffine,
  invertAffine,
  mapBox,
} from './tool-use/geometry.ts';
export {
  type BoxProblem,
  familyOf,
  type NoOpReason,
  type Operation,
  type OperationFamily,
  type OperationKind,
  type ShownPicture,
  type TurnToolUse,
} from './tool-use/operation.ts';
export {
  boxedContent,
  judge,
  type Refusal,
  type Verdict,
  type VerdictOptions,
} from './verdict.ts';
export { exact } from './verifiers/exact.ts';
export { numeric } from './verifiers/numeric.ts';
