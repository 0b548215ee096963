export { apply, type TensorArguments } from './apply.ts';
export {
  add,
  attention,
  attentionDecode,
  attentionDecodeWide,
  cacheRows,
  embedding,
  gatherRows,
  gelu,
  linear,
  linearLogprob,
  linearSample,
  linearSampleTruncated,
  rmsNorm,
  rotary,
  scatterRows,
  swiglu,
} from './fronts.ts';
export { adopt, asyncScope, Scope, scope, tensor, zeros } from './scope.ts';
export { constant, recordingTape, Tape } from './tape.ts';
export { type Storage, Tensor } from './tensor.ts';
