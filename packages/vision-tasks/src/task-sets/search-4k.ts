/**
 * `search-4k`: find one sticker of hundreds on a wall of 3840×2160 pixels.
 *
 * Counterpart of V* and HR-Bench 4K: an attribute of one thing, or the relation of two, each at most a
 * ten-thousandth of the image. No kind, photograph, page, map or typeface of the held-out split is in train.
 */
import { defineSearch } from '../search/define-search.ts';

/** Visual search at 4K. */
export const search4k = defineSearch({
  name: 'search-4k',
  description: 'Find a tiny sticker among hundreds on a wall of 3840×2160 pixels.',
  width: 3840,
  sizes: [20, 28],
});
