/** Weights on disk; a separate entry point, because the rest also runs in browsers. */
export { readSafetensors, readSafetensorsDirectory, writeSafetensors } from './safetensors.ts';
