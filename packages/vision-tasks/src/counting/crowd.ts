/** A crowd: things of some kinds on a photograph, which may partly hide each other. */
import type { Random } from '@saccade/core';
import type { Box } from '@saccade/gym';
import type { Pictogram } from '../scenes/pictograms.ts';
import { itemBox, type SceneItem } from '../scenes/scene.ts';

/** How crowded an image is. */
export interface CrowdPlan {
  readonly width: number;
  readonly height: number;
  /** Smallest and largest size of a thing in pixels. */
  readonly sizes: readonly [number, number];
}

/** Largest share of a thing that the box of another may cover. */
const HIDDEN = 0.22;
/** Draws are given up after this many for one thing. */
const DRAWS = 200;

/**
 * Draws places and sizes; later things lie above earlier ones.
 *
 * @returns undefined where they do not fit
 */
export function drawCrowd(
  pictograms: readonly Pictogram[],
  { width, height, sizes: [least, most] }: CrowdPlan,
  random: Random,
): readonly SceneItem[] | undefined {
  const items: SceneItem[] = [];
  for (const pictogram of pictograms) {
    const size = least + random.uniform() * (most - least);
    const placed = drawFree(pictogram, size, [width, height], items, random);
    if (placed === undefined) return undefined;
    items.push(placed);
  }
  return items;
}

function drawFree(
  pictogram: Pictogram,
  size: number,
  [width, height]: readonly [number, number],
  items: readonly SceneItem[],
  random: Random,
): SceneItem | undefined {
  for (let draw = 0; draw < DRAWS; draw++) {
    const item: SceneItem = {
      pictogram,
      x: size / 2 + 2 + random.uniform() * (width - size - 4),
      y: size / 2 + 2 + random.uniform() * (height - size - 4),
      size,
      isMirrored: random.integer(2) === 1,
      turn: 0,
      hue: 0,
    };
    const box = itemBox(item);
    if (items.every((other) => coveredShare(itemBox(other), box) <= HIDDEN)) return item;
  }
  return undefined;
}

/** The share of the smaller of two boxes that the other covers. */
export function coveredShare(a: Box, b: Box): number {
  const area = ([left, top, right, bottom]: Box) =>
    Math.max(0, right - left) * Math.max(0, bottom - top);
  const common = area([
    Math.max(a[0], b[0]),
    Math.max(a[1], b[1]),
    Math.min(a[2], b[2]),
    Math.min(a[3], b[3]),
  ]);
  return common / Math.min(area(a), area(b));
}
