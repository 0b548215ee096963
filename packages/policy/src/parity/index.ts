/** Compares a checkpoint in Saccade with the same in Hugging Face transformers, on this machine. */

export {
  checkParity,
  drawTestImage,
  type ParityOptions,
  type ParityReport,
} from './check-parity.ts';
export { type ComparedPart, isEqual } from './compare-parts.ts';
