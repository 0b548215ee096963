export type {
  Backend,
  BufferView,
  DeviceBuffer,
  Direction,
  Launch,
  MemoryUse,
} from './backend.ts';
export { type Device, type DeviceOptions, openDevice } from './device.ts';
export type { DeviceArray, DeviceArrays } from './device-array.ts';
export { type DryBackend, dryBackend } from './dry-backend.ts';
export { inferDims, shapeOf } from './infer-dims.ts';
export {
  type Cost,
  type CostCall,
  type Dims,
  defineOp,
  differentiableInputs,
  differentiableOutputs,
  FLOATS,
  gradientDtype,
  INDICES,
  type Op,
  type OpCase,
  type Operand,
  type OutputOperand,
  type Part,
  resolveScalars,
  type Scalars,
  type Values,
  WIDE_FLOATS,
} from './op.ts';
export { formOf, type OperandSlot } from './op-form.ts';
export type {
  GradientName,
  GradientsOf,
  GradOutputsOf,
  InputsOf,
  OutputsOf,
  SavedOf,
  ScalarsOf,
} from './operand-types.ts';
export {
  adamwStep,
  add,
  axpby,
  dequantizeBlocks,
  embedding,
  expertLinear,
  gatherRows,
  gelu,
  gemm,
  gemmQuantized,
  gradNorm,
  layerNorm,
  quantizeBlocks,
  quantizeWeight,
  rmsNorm,
  rotary,
  routeExperts,
  scaleColumns,
  scatterRows,
  sign,
  swiglu,
  weightedSum,
} from './ops/catalog.ts';
export {
  dequantizeWeight,
  type WeightForm,
  weightDims,
  weightFormOf,
} from './ops/quantized-weight.ts';
export { referenceBackend } from './reference-backend.ts';
export { ops, opsCatalog } from './registry.ts';
export { selectRows } from './select-rows.ts';
export { tracedBackend } from './traced-backend.ts';
