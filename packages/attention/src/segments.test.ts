import { randomAt, ShapeError } from '@saccade/core';
import { describe, expect, it } from 'vitest';
import { drawSegments } from './draw-segments.ts';
import {
  joinPlans,
  pathTo,
  planSegments,
  planSharedPrefix,
  planTree,
  planVarlen,
  withPositions,
} from './segments.ts';

describe('segment plans', () => {
  it('lay packed sequences out so that each ends its own keys', () => {
    const plan = planVarlen([2, 3]);
    expect([...plan.segments]).toEqual([0, 2, -1, 2, 5, -1]);
    expect([...plan.kvEnd]).toEqual([2, 2, 5, 5, 5]);
    expect([...plan.positions]).toEqual([0, 1, 0, 1, 2]);
    expect([...plan.roots]).toEqual([0, 1]);
  });

  it('keep a shared prefix visible to every response, and responses apart', () => {
    const plan = planSharedPrefix({ prefixLength: 3, responseLengths: [2, 1] });
    expect([...plan.segments]).toEqual([0, 3, -1, 3, 5, 0, 5, 6, 0]);
    expect([...plan.kvEnd]).toEqual([6, 6, 6, 5, 5, 6]);
    expect([...plan.positions]).toEqual([0, 1, 2, 3, 4, 3]);
    expect([...plan.segmentOf]).toEqual([0, 0, 0, 1, 1, 2]);
    expect([...plan.roots]).toEqual([0, 0, 0]);
  });

  it('nest to any depth in depth-first order', () => {
    const plan = planTree([
      { length: 1, children: [{ length: 2, children: [{ length: 1 }] }, { length: 1 }] },
      { length: 2 },
    ]);
    expect([...plan.segments]).toEqual([0, 1, -1, 1, 3, 0, 3, 4, 1, 4, 5, 0, 5, 7, -1]);
    expect([...plan.kvEnd]).toEqual([5, 4, 4, 4, 5, 7, 7]);
    expect([...plan.positions]).toEqual([0, 1, 2, 3, 1, 0, 1]);
    expect([...plan.roots]).toEqual([0, 0, 0, 0, 4]);
    expect(pathTo(plan.segments, 2)).toEqual([0, 1, 2]);
  });

  it('follow the mask rule k ≤ q < kvEnd[k] exactly where k is an ancestor or not later', () => {
    for (let seed = 0; seed < 100; seed++) {
      const random = randomAt(seed, 'mask-rule');
      const T = 1 + random.integer(30);
      const plan = planSegments(drawSegments(T, 1 + random.integer(Math.min(T, 10)), random));
      for (let q = 0; q < T; q++) {
        const path = pathTo(plan.segments, plan.segmentOf[q]);
        for (let k = 0; k < T; k++) {
          const isOnPath = path.includes(plan.segmentOf[k]) && k <= q;
          expect(k <= q && q < plan.kvEnd[k]).toBe(isOnPath);
        }
        const seen = Array.from({ length: T }, (_, k) => k).filter(
          (k) => k < q && q < plan.kvEnd[k],
        );
        expect(plan.positions[q]).toBe(seen.length);
      }
    }
  });

  it('join without changing what each holds, positions included', () => {
    const shared = planSharedPrefix({ prefixLength: 2, responseLengths: [1, 1] });
    const moved = withPositions(planVarlen([2]), [7, 9]);
    const joined = joinPlans([shared, moved]);
    expect([...joined.segments]).toEqual([0, 2, -1, 2, 3, 0, 3, 4, 0, 4, 6, -1]);
    expect([...joined.kvEnd]).toEqual([4, 4, 3, 4, 6, 6]);
    expect([...joined.positions]).toEqual([0, 1, 2, 2, 7, 9]);
  });

  it('refuse what is no plan', () => {
    const plan =
      (...rows: number[]) =>
      () =>
        planSegments(Int32Array.from(rows));
    expect(plan()).toThrow(ShapeError);
    expect(plan(0, 2)).toThrow('got 2 numbers');
    expect(plan(1, 2, -1)).toThrow('Segment 0 starts at 1, expected 0.');
    expect(plan(0, 2, -1, 3, 4, 0)).toThrow('Segment 1 starts at 3, expected 2.');
    expect(plan(0, 0, -1)).toThrow('Segment 0 must hold at least 1 token, got 0.');
    expect(plan(0, 1, 0)).toThrow('Segment 0 has parent 0, which is not on the path');
    expect(plan(0, 1, -1, 1, 2, -1, 2, 3, 0)).toThrow(
      'Segment 2 has parent 0, which is not on the path to segment 1.',
    );
    expect(plan(0, 1, -2)).toThrow('Segment 0 has parent -2');
    expect(() => planVarlen([])).toThrow(ShapeError);
    expect(() => planSharedPrefix({ prefixLength: 3, responseLengths: [2, 0] })).toThrow(
      'Segment 2 must hold at least 1 token, got 0.',
    );
    expect(() => withPositions(planVarlen([2]), [1])).toThrow(
      'positions must have length 2, got 1.',
    );
  });
});
