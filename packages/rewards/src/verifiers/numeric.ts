/** Answers that must be the same number. */
import type { Verifier } from '../reward.ts';

/**
 * 1 if both are numbers and equal to one part in a million; `7`, `7.0`, `+7` and `1,024` are read,
 * percent signs, units and words are not.
 */
export const numeric: Verifier = {
  name: 'numeric',
  paper: 'equality to six figures, ours',
  verify(answer, expected) {
    const [a, b] = [plainNumberIn(answer), plainNumberIn(expected)];
    if (a === undefined || b === undefined) return 0;
    return Math.abs(a - b) <= 1e-6 * Math.max(Math.abs(a), Math.abs(b)) ? 1 : 0;
  },
};

const plainNumber = /^[+-]?(\d+|\d{1,3}(,\d{3})+)?(\.\d*)?(e[+-]?\d+)?$/i;

/** The number a text is; undefined for anything besides. */
export function plainNumberIn(text: string): number | undefined {
  const trimmed = text.trim().replace('\u2212', '-');
  if (!/\d/.test(trimmed) || !plainNumber.test(trimmed)) return undefined;
  const value = Number(trimmed.replaceAll(',', ''));
  return Number.isFinite(value) ? value : undefined;
}
