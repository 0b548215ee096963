/** Places for things on a page, drawn so that none overlaps another. */
import type { Random } from '@saccade/core';
import type { Box } from '@saccade/gym';

/** Draws are given up after this many for one thing. */
const DRAWS = 60;

/**
 * Draws a center for a square so that it keeps a gap to all boxes.
 *
 * @param side  side of the square in pixels
 * @returns undefined where no place was found
 */
export function drawPlace(
  [width, height]: readonly [number, number],
  side: number,
  taken: readonly Box[],
  gap: number,
  random: Random,
): readonly [number, number] | undefined {
  const margin = side / 2 + gap;
  for (let draw = 0; draw < DRAWS; draw++) {
    const x = margin + random.uniform() * (width - 2 * margin);
    const y = margin + random.uniform() * (height - 2 * margin);
    const box: Box = [x - margin, y - margin, x + margin, y + margin];
    if (taken.every((other) => !overlaps(box, other))) return [x, y];
  }
  return undefined;
}

/** Whether two boxes have a point in common. */
export const overlaps = (a: Box, b: Box): boolean =>
  a[0] < b[2] && b[0] < a[2] && a[1] < b[3] && b[1] < a[3];
