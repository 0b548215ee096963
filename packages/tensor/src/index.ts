export { apply, type TensorArguments } from './apply.ts';
export {
  add,
  attention,
  attentionDecode,
  attentionDecodeWide,
  cacheRows,
  embedding,
  expertLinear,
  gatherRows,
  gelu,
  layerNorm,
  linear,
  linearLogprob,
  linearQuantized,
  linearSample,
  linearSampleTruncated,
  quantizeWeight,
  rmsNorm,
  rotary,
  routeExperts,
  scaleColumns,
  scatterRows,
  swiglu,
  weightedSum,
} from './fronts.ts';
export { adopt, asyncScope, Scope, scope, tensor, zeros } from './scope.ts';
export { constant, recomputable, recordingTape, Tape, type TapeOptions } from './tape.ts';
export { type Storage, Tensor } from './tensor.ts';
