export { type CoefficientSettings, coefficientSettings } from './coefficient-settings.ts';
export { type Coefficients, checkCoefficients } from './coefficients.ts';
export {
  createLearner,
  type Learner,
  type LearnerOptions,
  type LearningPoint,
  type LearnOptions,
  type LearnResult,
  type TrainablePolicy,
} from './learner.ts';
export {
  type PackedStep,
  type PackStepOptions,
  packStep,
  rangeOf,
  type StepMicroBatch,
  type StepMinibatch,
  type StepRange,
  type StepTokens,
  stepTokens,
} from './packed-step.ts';
export {
  createSupervisedLearner,
  type SupervisedLearner,
  type SupervisedLearnerOptions,
  type SupervisedResult,
} from './supervised.ts';
