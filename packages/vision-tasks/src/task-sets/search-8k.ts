/**
 * `search-8k`: find one sticker of hundreds on a wall of 7680×4320 pixels.
 *
 * Counterpart of V* and HR-Bench 8K: an attribute of one thing, or the relation of two, each at most a
 * ten-thousandth of the image. No kind, photograph, page, map or typeface of the held-out split is in train.
 */
import { defineSearch } from '../search/define-search.ts';

/** Visual search at 8K. */
export const search8k = defineSearch({
  name: 'search-8k',
  description: 'Find a tiny sticker among hundreds on a wall of 7680×4320 pixels.',
  width: 7680,
  sizes: [20, 40],
});
