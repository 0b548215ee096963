export {
  defaultTagging,
  type ErrorKind,
  type ErrorTag,
  errorKinds,
  errorMeanings,
  errorMetrics,
  isUndecided,
  type TaggingOptions,
  tagErrors,
} from './error-taxonomy.ts';
export { type Evaluation, evaluate, keep } from './evaluate.ts';
export type { EvaluatedParts, EvaluatedRun } from './evaluated-run.ts';
export { type EvaluationSettings, evaluationSettings } from './evaluation-settings.ts';
export { faithfulnessOf } from './faithfulness-metrics.ts';
export { scoreRollouts } from './score-rollouts.ts';
export { taskMetrics } from './task-metrics.ts';
export { mean, positiveNegativeRatio, rolloutMetrics } from './trajectory-metrics.ts';
