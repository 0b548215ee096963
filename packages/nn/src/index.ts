export {
  type Initializer,
  initialise,
  initialValues,
  type ParameterSpec,
  type Parameters,
  parameter,
} from './parameters.ts';
export { mropeTable, type RotaryTable, visionRotaryTable } from './rotary-tables.ts';
export {
  type NamedArray,
  readSafetensors,
  readSafetensorsDirectory,
  writeSafetensors,
} from './safetensors.ts';
export {
  type Attend,
  type BlockNames,
  type BlockShape,
  blockSpecs,
  decoderNames,
  transformerBlock,
  visionNames,
} from './transformer-block.ts';
