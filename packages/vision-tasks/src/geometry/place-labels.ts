/** Finds room for labels of a figure: beside their place, off the lines and off each other. */
import type { Box } from '@saccade/gym';
import type { Point } from './figure.ts';

/** A line that labels should not touch. */
export type Stroke = readonly [Point, Point];

/** The space that is still free on a page. */
export class Room {
  readonly #strokes: readonly Stroke[];
  readonly #size: readonly [number, number];
  readonly #taken: Box[] = [];
  #isCrowded = false;

  constructor(strokes: readonly Stroke[], width: number, height: number) {
    this.#strokes = strokes;
    this.#size = [width, height];
  }

  /** Whether a box had to touch another, or the edge of the page. */
  get isCrowded(): boolean {
    return this.#isCrowded;
  }

  /** The least crowded of some places for the middle of a box, which is taken from then on. */
  place(width: number, height: number, candidates: readonly Point[]): Box {
    let best: Box | undefined;
    let leastCost = Number.POSITIVE_INFINITY;
    candidates.forEach(([x, y], index) => {
      const box: Box = [x - width / 2, y - height / 2, x + width / 2, y + height / 2];
      // Early candidates are nearer to what they name.
      const cost = this.#crowding(box) + index * 0.02;
      if (cost >= leastCost) return;
      leastCost = cost;
      best = box;
    });
    if (best === undefined) throw new Error('A label needs at least one place to stand.');
    if (this.#labelsAt(best) > 0 || this.#isOut(best)) this.#isCrowded = true;
    this.#taken.push(best);
    return best;
  }

  /** Crossed lines count 3, other labels 10, the page's edge 10. */
  #crowding(box: Box): number {
    const lines = this.#strokes.filter((stroke) => crosses(stroke, box)).length;
    return lines * 3 + this.#labelsAt(box) * 10 + (this.#isOut(box) ? 10 : 0);
  }

  #labelsAt(box: Box): number {
    return this.#taken.filter((other) => overlap(box, other)).length;
  }

  #isOut([left, top, right, bottom]: Box): boolean {
    const [width, height] = this.#size;
    return left < 2 || top < 2 || right > width - 2 || bottom > height - 2;
  }
}

function overlap(a: Box, b: Box): boolean {
  return a[0] < b[2] + 2 && b[0] < a[2] + 2 && a[1] < b[3] + 2 && b[1] < a[3] + 2;
}

/** Whether a line passes through a box; by clipping it (Liang and Barsky 1984). */
function crosses([from, to]: Stroke, [left, top, right, bottom]: Box): boolean {
  const [dx, dy] = [to[0] - from[0], to[1] - from[1]];
  const sides: readonly (readonly [number, number])[] = [
    [-dx, from[0] - left],
    [dx, right - from[0]],
    [-dy, from[1] - top],
    [dy, bottom - from[1]],
  ];
  let [enter, leave] = [0, 1];
  for (const [slope, room] of sides) {
    if (slope === 0 && room < 0) return false;
    if (slope === 0) continue;
    if (slope < 0) enter = Math.max(enter, room / slope);
    else leave = Math.min(leave, room / slope);
  }
  return enter <= leave;
}
