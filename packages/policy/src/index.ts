export type {
  LossAndGradients,
  LossFunction,
  ModelImage,
  PackedBatch,
  PackedSegment,
  ScoreOptions,
  Scores,
  VideoTimes,
} from './batch.ts';
export {
  createLocalPolicy,
  LocalPolicy,
  type LocalPolicyOptions,
  type LocalPolicyParts,
  loadLocalPolicy,
} from './local-policy.ts';
export {
  type ModelConfig,
  type ModelSize,
  nanoConfig,
  nanoSize,
  parseConfig,
  type VisionConfig,
} from './models/config.ts';
export type {
  ContentPart,
  EncodedContent,
  OptimizerStep,
  OptimizerStepResult,
  Policy,
  Processor,
  SampleRequest,
  SampleResult,
  Sampler,
} from './policy.ts';
export {
  type ImageProcessorConfig,
  prepareImage,
  qwenImageProcessor,
  smartResize,
} from './processor/image-processor.ts';
export { loadProcessor } from './processor/load-processor.ts';
export { QwenProcessor } from './processor/qwen-processor.ts';
export { specialTokens, trainTokenizer } from './processor/train-tokenizer.ts';
