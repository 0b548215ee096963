export {
  type LearnerModels,
  type ModelSpec,
  type ServedLearner,
  servedLocal,
} from './learner-models.ts';
export {
  type LearnerService,
  type LearnerServiceOptions,
  learnerService,
  openLearnerService,
} from './learner-service.ts';
