export {
  ChatError,
  type ChatMessage,
  type ChatModel,
  type ChatOptions,
  type ChatPart,
  openAiChat,
  type Script,
  type ScriptedChat,
  scriptedChat,
  textOf,
} from '@saccade/chat';
export { type Ask, type AskOptions, askWith, type GradeCache, memoryCache } from './ask-judge.ts';
export {
  type Audited,
  type AuditedStep,
  type AuditInput,
  allAudited,
  type Detector,
  type DetectorDefinition,
  defineDetector,
  type Examination,
  type Finding,
} from './audit.ts';
export { type AuditReport, auditedGroup, auditRewards } from './audit-rewards.ts';
export { type AuditSettings, auditSettings, detectorsWith } from './audit-settings.ts';
export { type BoxThresholds, gradeByBox, type StepOverlap, stepOverlaps } from './box-evidence.ts';
export { changeTerms, type TermChange } from './change-terms.ts';
export type { Judged, ScoringTask } from './context.ts';
export {
  type ContextOptions,
  makeContext,
} from './context.ts';
export { pearson, spearman } from './correlation.ts';
export {
  type ConfiguredReward,
  defineReward,
  type RewardDefinition,
  type RewardUnit,
  type Scope,
} from './define-reward.ts';
export { defineVerifier, type VerifierDefinition, type VerifierUnit } from './define-verifier.ts';
export {
  type CallBucket,
  type CallCount,
  callBuckets,
  type EvidencePair,
  type Faithfulness,
  type FaithfulnessSample,
  faithfulness,
  faithfulnessMetrics,
  faithfulnessSample,
  type GradedTrajectory,
  judgeAgreement,
} from './faithfulness.ts';
export type { Judge, Untrusted } from './judge.ts';
export {
  type GroupJudges,
  type JudgedGroup,
  judgedInputs,
  judgeGroup,
  missingInputs,
  type RuleJudges,
} from './judge-group.ts';
export { gradeCrops, type JudgedOptions, judgedVerifier } from './judged.ts';
export { type AnswerInput, answerJudge } from './judges/answer-judge.ts';
export { type ConsistencyInput, consistencyJudge } from './judges/consistency-judge.ts';
export { type CropInput, cropJudge } from './judges/crop-judge.ts';
export { type ErrorInput, errorJudge, type JudgedCall } from './judges/error-judge.ts';
export { type FaithfulnessInput, faithfulnessJudge } from './judges/faithfulness-judge.ts';
export { fenced, gradeIn, replyRule } from './judges/fence.ts';
export { type ProcessInput, processJudge } from './judges/process-judge.ts';
export {
  definePreset,
  type PresetDefinition,
  type PresetTerm,
  type RewardPreset,
  type TermSettings,
  term,
  termsOf,
} from './preset.ts';
export {
  type Constant,
  type Constants,
  type ConstantValue,
  type Provenance,
  sourced,
} from './provenance.ts';
export {
  detectors,
  judges,
  presetNamed,
  presets,
  presetTerms,
  rewards,
  verifiers,
} from './registry.ts';
export { answerIn } from './response.ts';
export type {
  AnyReward,
  GroupReward,
  JudgedInput,
  Reward,
  RewardContext,
  TurnReward,
  Verifier,
} from './reward.ts';
export { accumulativeTool } from './rewards/accumulative-tool.ts';
export { accuracy } from './rewards/accuracy.ts';
export {
  type BalancedToolCallSettings,
  balancedToolCall,
  toolCallIncentive,
} from './rewards/balanced-tool-call.ts';
export {
  cropIous,
  type Frame,
  orientationTools,
  type ToolRecord,
  toolRecord,
} from './rewards/core-tools.ts';
export {
  measureRepetition,
  type PhraseOptions,
  type Repetition,
} from './rewards/measure-repetition.ts';
export { type OverlongSettings, overlong, softOverlong } from './rewards/overlong.ts';
export { type Redline, type RedlineOptions, redlinesOf } from './rewards/redlines.ts';
export {
  RewardError,
  type RewardTerm,
  type ScoredGroupResult,
  type Scoring,
  scoreGroup,
  scoreTrajectory,
} from './score.ts';
export {
  type CompletionOptions,
  type CompletionScore,
  type Completions,
  scoreCompletions,
} from './score-completions.ts';
export { type ScoringSettings, scoringSettings } from './scoring-settings.ts';
export { type TaskFacts, taskFacts } from './task-facts.ts';
export {
  batchCorrelations,
  type StepCorrelation,
  stepCorrelations,
  type TermMeans,
} from './term-correlations.ts';
export {
  boxedContent,
  judge,
  type Refusal,
  type Verdict,
  type VerdictOptions,
} from './verdict.ts';
export { anls } from './verifiers/anls.ts';
export { boxIou } from './verifiers/box-iou.ts';
export { counting } from './verifiers/counting.ts';
export { exact } from './verifiers/exact.ts';
export { math } from './verifiers/math.ts';
export { mra } from './verifiers/mra.ts';
export { multipleChoice, multipleChoiceOf } from './verifiers/multiple-choice.ts';
export { numeric } from './verifiers/numeric.ts';
export {
  quantity,
  quantityRelaxed,
  quantityWithin,
  type Tolerances,
} from './verifiers/quantity.ts';
