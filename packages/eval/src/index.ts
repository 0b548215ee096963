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
export {
  compareEvaluations,
  type SuiteComparison,
} from './measure/compare-evaluations.ts';
export {
  factsOf,
  type MeasureOptions,
  measureDefaults,
  measureEvaluation,
  measureSuite,
} from './measure/measure-evaluation.ts';
export { type IntervalOptions, taskScores } from './measure/measured.ts';
export type { FactOptions, SampleFacts } from './measure/sample-facts.ts';
export { scoreRollouts } from './score-rollouts.ts';
export { sourceMetrics } from './source-metrics.ts';
export {
  commonSlices,
  defineSuite,
  type Slice,
  type Suite,
  type SuiteDefinition,
  slicesOf,
  type UnitChoice,
} from './suite/define-suite.ts';
export type { DrawOptions } from './suite/draw-samples.ts';
export { estimateSuite, type Prices, priceOf, type SuiteEstimate } from './suite/estimate.ts';
export {
  type EvaluateSuitesOptions,
  evaluateSuites,
  type SuitesResult,
} from './suite/evaluate-suites.ts';
export type { OpenSuite } from './suite/open-suite.ts';
export { underOrientations } from './suite/orientations.ts';
export { type SuiteDefaults, type SuiteSettings, suiteSettings } from './suite/suite-settings.ts';
export { suiteGroups, suites } from './suite-registry.ts';
export { taskMetrics } from './task-metrics.ts';
export { toolMixture } from './tool-mixture.ts';
export { mean, positiveNegativeRatio, rolloutMetrics } from './trajectory-metrics.ts';
