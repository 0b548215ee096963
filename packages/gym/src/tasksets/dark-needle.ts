/**
 * `dark-needle`: which digit is hidden in the picture, which may lie on its side?
 *
 * The tables of `turned-needle` without the light that shows how they lie: which tool is required
 * cannot be known before the look. What a reward pays for here is paid for trying.
 */
import { defineTurnedNeedle } from './turned-needle.ts';

export const darkNeedle = defineTurnedNeedle(
  'dark-needle',
  'Turned and flipped tables in the dark: nothing shows which tool is required.',
  { isLit: false, turnedShare: 0.8, easyShare: 0 },
);
