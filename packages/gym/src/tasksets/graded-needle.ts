/**
 * `graded-needle`: which digit is hidden in the picture, on easy tables and on hard ones?
 *
 * Half of the tables are those of `needle`: the answer takes a look. On the other half the digit is
 * printed large as well, and the overview suffices.
 */
import { defineTurnedNeedle } from './turned-needle.ts';

export const gradedNeedle = defineTurnedNeedle(
  'graded-needle',
  'The tables of needle, on half of them the digit printed large: no look is needed.',
  { turnedShare: 0, easyShare: 0.5 },
);
