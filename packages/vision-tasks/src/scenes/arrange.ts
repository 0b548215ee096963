/** Arranges pictograms of some kinds on a page. */
import type { Random } from '@saccade/core';
import type { Box } from '@saccade/gym';
import type { Pictogram } from './pictograms.ts';
import { drawPlace } from './place.ts';
import { itemBox, type SceneItem } from './scene.ts';

/** How items are arranged. */
export interface Arrangement {
  readonly width: number;
  readonly height: number;
  /** Smallest and largest size of an item in pixels. */
  readonly sizes: readonly [number, number];
}

/** Distance that items keep from each other, in pixels. */
export const GAP = 4;

/**
 * Draws places and sizes for pictograms, in the order given.
 *
 * @param taken  boxes that stay free
 * @returns undefined where they do not fit
 */
export function arrange(
  pictograms: readonly Pictogram[],
  { width, height, sizes: [least, most] }: Arrangement,
  taken: readonly Box[],
  random: Random,
): readonly SceneItem[] | undefined {
  const items: SceneItem[] = [];
  for (const pictogram of pictograms) {
    const size = least + random.uniform() * (most - least);
    const boxes = [...taken, ...items.map(itemBox)];
    const place = drawPlace([width, height], size, boxes, GAP, random);
    if (place === undefined) return undefined;
    const [x, y] = place;
    items.push({ pictogram, x, y, size, isMirrored: random.integer(2) === 1, turn: 0, hue: 0 });
  }
  return items;
}
