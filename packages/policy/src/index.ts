export type {
  LossAndGradients,
  LossFunction,
  ModelImage,
  PackedBatch,
  PackedSegment,
} from './batch.ts';
export { ContextOverflowError } from './errors.ts';
export {
  createLocalPolicy,
  type LocalPolicy,
  type LocalPolicyOptions,
  loadLocalPolicy,
} from './local-policy.ts';
export {
  formatConfig,
  type ModelConfig,
  nanoConfig,
  parseConfig,
  type SpecialTokens,
  type VisionConfig,
} from './models/config.ts';
export type {
  ContentPart,
  EncodedContent,
  OptimizerStep,
  Policy,
  Processor,
  SampleRequest,
  SampleResult,
} from './policy.ts';
export {
  type ImageProcessorConfig,
  prepareImage,
  qwenImageProcessor,
  smartResize,
} from './processor/image-processor.ts';
export { QwenProcessor } from './processor/qwen-processor.ts';
export { specialTokens, type TokenizerJson, trainTokenizer } from './processor/train-tokenizer.ts';
