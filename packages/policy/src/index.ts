export { architectures, readModel } from './architecture-registry.ts';
export {
  nanoConfig,
  type Qwen2_5_VLConfig,
  qwen2_5_vl,
} from './architectures/qwen2_5_vl.ts';
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
export { type EngineSettings, engineSettings } from './engine/engine-settings.ts';
export { LocalPolicy, type LocalPolicyParts } from './local-policy.ts';
export type { LoraSettings } from './lora/adapter.ts';
export { type Architecture, defineArchitecture } from './models/architecture.ts';
export type {
  DecoderInput,
  LanguageModel,
  LayerAttend,
  StoredTensor,
} from './models/language-model.ts';
export { type ModelSize, nanoSize, type SpecialTokens } from './models/model-size.ts';
export {
  createLocalPolicy,
  type LoadOptions,
  type LocalPolicyOptions,
  loadLocalPolicy,
  type TrainingOptions,
} from './open-policy.ts';
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
export { hasAdapter, hasWeights } from './policy-weights.ts';
export {
  type ImageProcessorConfig,
  prepareImage,
  qwenImageProcessor,
  smartResize,
} from './processor/image-processor.ts';
export { loadProcessor } from './processor/load-processor.ts';
export { QwenProcessor } from './processor/qwen-processor.ts';
export { specialTokens, trainTokenizer } from './processor/train-tokenizer.ts';
export { expectSameTokens } from './same-tokens.ts';
export type {
  FixedPolicy,
  Published,
  PublishTarget,
  ReferenceOptions,
  TrainedPolicy,
} from './trained-policy.ts';
export {
  fullTruncation,
  isTruncated,
  type Truncation,
  truncationSettings,
} from './truncation.ts';
