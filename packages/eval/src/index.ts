export {
  decide,
  type ErrorJudging,
  type ErrorMetricsOptions,
  errorMetrics,
  sharesOf,
  type WrongTrajectory,
} from './error-metrics.ts';
export {
  type ErrorKind,
  type ErrorTag,
  errorKinds,
  errorMeanings,
  isUndecided,
  type TaggingOptions,
  tagErrors,
} from './error-taxonomy.ts';
export { type Evaluation, evaluate, keep } from './evaluate.ts';
export type { EvaluatedParts, EvaluatedRun } from './evaluated-run.ts';
export { type EvaluationSettings, evaluationSettings } from './evaluation-settings.ts';
export { faithfulnessOf } from './faithfulness-metrics.ts';
export { type JudgedTask, resultText } from './judged-errors.ts';
export { scoreRollouts } from './score-rollouts.ts';
export { sourceMetrics } from './source-metrics.ts';
export { taskMetrics } from './task-metrics.ts';
export { mean, positiveNegativeRatio, rolloutMetrics } from './trajectory-metrics.ts';
