/** Statements that cannot be read are the model's to correct: an outcome, not an error. */
import type { Outcome } from '@saccade/sandbox';
import { declined } from '../outcomes.ts';
import { CdlError } from './cdl/errors.ts';

export function readingOutcome(work: () => Outcome): Outcome {
  const start = performance.now();
  try {
    return { ...work(), wallMs: performance.now() - start };
  } catch (error) {
    if (error instanceof CdlError) return declined('CannotAnswer', error.message);
    throw error;
  }
}
