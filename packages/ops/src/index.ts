export type { Backend, BufferView, DeviceBuffer, Direction, Launch } from './backend.ts';
export {
  type Device,
  type DeviceArray,
  type DeviceArrays,
  type DeviceOptions,
  openDevice,
} from './device.ts';
export {
  type Dims,
  differentiableInputs,
  differentiableOutputs,
  type Op,
  type OpCase,
  type Operand,
  type OutputOperand,
  resolveScalars,
  type Scalars,
  type Values,
} from './op.ts';
