/** Weights on disk; a separate entry point, because the rest also runs in browsers. */
export { loadParameters, type ParameterDType } from './load-parameters.ts';
export { readSafetensors, readSafetensorsDirectory, writeSafetensors } from './safetensors.ts';
export { layoutOf, type StoredNames, type WeightLayout } from './weight-layout.ts';
export { writeParameters } from './write-parameters.ts';
