export { apply, type TensorArguments } from './apply.ts';
export {
  add,
  attention,
  attentionDecode,
  embedding,
  expertLinear,
  gatherRows,
  gelu,
  layerNorm,
  linear,
  linearLogprob,
  linearSample,
  rmsNorm,
  rotary,
  routeExperts,
  scatterRows,
  swiglu,
  weightedSum,
} from './fronts.ts';
export { adopt, asyncScope, Scope, scope, tensor, zeros } from './scope.ts';
export { constant, recordingTape, Tape } from './tape.ts';
export { type Storage, Tensor } from './tensor.ts';
