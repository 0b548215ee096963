import { randomAt } from '@saccade/core';
import type { Box, Split } from '@saccade/gym';
import { describe, expect, it } from 'vitest';
import { type GeometryFacts, geometrySolve } from '../task-sets/geometry-solve.ts';
import { drawFigure } from './draw-figure.ts';
import { distance, type Point } from './figure.ts';
import { figureStyle } from './figure-style.ts';
import { figuresOf } from './figures/figures-of-split.ts';

const splits: readonly Split[] = ['train', 'heldOut'];
const isApart = (a: Box, b: Box) => a[2] <= b[0] || b[2] <= a[0] || a[3] <= b[1] || b[3] <= a[1];

describe('drawFigure', () => {
  it('says so where texts touch, and else keeps them apart and on the page', () => {
    let clear = 0;
    for (const split of splits) {
      for (const [kind, make] of figuresOf[split].entries()) {
        for (let index = 0; index < 5; index++) {
          const random = randomAt(3, 'draw-figure-test', split, kind, index);
          const figure = make(random);
          const labels = new Map(figure.quantities.slice(0, 3).map((name) => [name, '123°']));
          const style = figureStyle(split, random);
          const drawn = drawFigure(figure, labels, style, 560, random);
          const boxes = [...drawn.labels.values(), ...drawn.names.values()];
          const { width, height } = drawn.drawing;
          const isClear = boxes.every(
            (box, at) =>
              box[0] >= 0 &&
              box[1] >= 0 &&
              box[2] <= width &&
              box[3] <= height &&
              boxes.slice(at + 1).every((other) => isApart(box, other)),
          );
          if (!drawn.isCrowded) expect(isClear, figure.kind).toBe(true);
          clear += isClear ? 1 : 0;
        }
      }
    }
    expect(clear).toBeGreaterThan(20);
  });
});

/** How far two lines are from parallel; 0 to 1. */
function slant([a, b]: readonly Point[], [c, d]: readonly Point[]): number {
  if (a === undefined || b === undefined || c === undefined || d === undefined) return 1;
  const cross = (b[0] - a[0]) * (d[1] - c[1]) - (b[1] - a[1]) * (d[0] - c[0]);
  return Math.abs(cross) / (distance(a, b) * distance(c, d));
}

describe('geometry-solve figures', () => {
  it('show what the text says: parallels, right angles, points on lines, equal sides', async () => {
    const seen = new Set<string>();
    for (const split of splits) {
      for (let index = 0; index < 40; index++) {
        const task = await geometrySolve.task(split, index);
        const { points } = task.metadata as unknown as GeometryFacts;
        const at = (names = '') => [...names].map((name): Point => points[name] ?? [0, 0]);
        const said = (pattern: RegExp, check: (one: Point[], two: Point[]) => number) => {
          const found = pattern.exec(task.question);
          if (found === null) return;
          seen.add(pattern.source);
          expect(check(at(found[1]), at(found[2])), task.question).toBeCloseTo(0, 6);
        };
        said(/\b([A-Z]{2}) is parallel to ([A-Z]{2})/, slant);
        said(/\b([A-Z]{2}) is perpendicular to ([A-Z]{2})/, (one, two) => 1 - slant(one, two));
        said(/\b([A-Z]) lies on ([A-Z]{2})/, ([point = [0, 0]], two) =>
          slant([two[0] ?? point, point], two),
        );
        said(/\b([A-Z]{2}) = ([A-Z]{2})/, ([a, b], [c, d]) =>
          a && b && c && d ? distance(a, b) / distance(c, d) - 1 : 1,
        );
        said(/\b([A-Z]{2}) is tangent to circle (O)/, ([outside, touch], [center]) =>
          outside && touch && center ? 1 - slant([outside, touch], [center, touch]) : 1,
        );
      }
    }
    expect(seen.size).toBe(5);
  });
});
