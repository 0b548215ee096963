export type { LossAndGradients, LossFunction, ModelImage, PackedBatch, PackedSegment } from './batch.ts';
export type {
  ContentPart,
  EncodedContent,
  OptimizerStep,
  Policy,
  Processor,
  SampleRequest,
  SampleResult,
} from './policy.ts';
