/** Weights on disk; apart from the rest, which runs in a browser too. */
export { readSafetensors, readSafetensorsDirectory, writeSafetensors } from './safetensors.ts';
