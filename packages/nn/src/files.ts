/** Weights on disk; a separate entry point, because the rest also runs in browsers. */
export { loadParameters, type ParameterDType } from './load-parameters.ts';
export { readSafetensors, readSafetensorsMetadata, writeSafetensors } from './safetensors.ts';
export {
  decodeSafetensors,
  encodeSafetensors,
  type SafetensorsContent,
} from './safetensors-bytes.ts';
export { type WriteOptions, writeParameterFile, writeParameters } from './write-parameters.ts';
