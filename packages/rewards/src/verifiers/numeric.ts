/** Answers that must be the same number. */
import { quantity } from '@saccade/core/settings';
import { z } from 'zod';
import { defineVerifier } from '../define-verifier.ts';

const settings = z.strictObject({
  relativeTolerance: quantity({
    min: 0,
    max: 1,
    default: 1e-6,
    unit: 'fraction',
    about: 'Largest difference as a share of the larger number.',
  }),
});

/**
 * 1 if both are numbers and equal to one part in a million; `7`, `7.0`, `+7` and `1,024` are read,
 * percent signs, units and words are not.
 */
export const numeric = defineVerifier({
  name: 'numeric',
  description: 'The same number.',
  paper: 'equality to six figures, ours',
  settings,
  verify(answer, expected, { relativeTolerance }) {
    const [a, b] = [plainNumberIn(answer), plainNumberIn(expected)];
    if (a === undefined || b === undefined) return 0;
    return Math.abs(a - b) <= relativeTolerance * Math.max(Math.abs(a), Math.abs(b)) ? 1 : 0;
  },
});

const plainNumber = /^[+-]?(\d+|\d{1,3}(,\d{3})+)?(\.\d*)?(e[+-]?\d+)?$/i;

/** The number a text is; undefined for anything besides. */
export function plainNumberIn(text: string): number | undefined {
  const trimmed = text.trim().replace('\u2212', '-');
  if (!/\d/.test(trimmed) || !plainNumber.test(trimmed)) return undefined;
  const value = Number(trimmed.replaceAll(',', ''));
  return Number.isFinite(value) ? value : undefined;
}
