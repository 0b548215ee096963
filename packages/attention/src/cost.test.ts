/** The cost of attention, counted pair by pair. */
import { randomAt } from '@saccade/core';
import type { Values } from '@saccade/ops';
import { drawInputs } from '@saccade/ops/contract';
import { expect, it } from 'vitest';
import { drawSegments } from './draw-segments.ts';
import { attention, attentionDecode } from './ops/catalog.ts';
import { planSegments } from './segments.ts';

it('counts the pairs that see each other, for any plan', () => {
  const random = randomAt(1, 'cost');
  for (const [T, S] of [
    [1, 1],
    [40, 1],
    [57, 9],
    [80, 20],
  ] as const) {
    const { segments, kvEnd, segmentOf, positions } = planSegments(drawSegments(T, S, random));
    const seen = (q: number, k: number, causal: number, window: number): boolean =>
      q < kvEnd[k] &&
      q >= segments[3 * segmentOf[k]] &&
      (causal === 0 || k <= q) &&
      (window === 0 || positions[k] >= positions[q] - window);
    const dims = { T, H: 3, G: 1, D: 8, S, P: 3 };
    for (const causal of [0, 1]) {
      for (const window of [0, 1, 7]) {
        let pairs = 0;
        for (let q = 0; q < T; q++) {
          for (let k = 0; k < T; k++) if (seen(q, k, causal, window)) pairs++;
        }
        const call = { bytesPerElement: 4, indices: { segments }, scalars: { causal, window } };
        expect(attention.cost(dims, call).flops).toBe(4 * 3 * 8 * pairs);
        expect(attention.backwardCost?.(dims, call).flops).toBe(10 * 3 * 8 * pairs);
      }
    }
  }
});

it('counts a cached key once for all rows that see it', () => {
  const dims = { N: 2, H: 4, G: 2, D: 8, C: 10, R: 2, U2: 2, O: 3 };
  const indices: Values = {
    spans: Int32Array.of(0, 6, 2, 8),
    spanOffsets: Int32Array.of(0, 1, 2),
  };
  const cost = (window: number) =>
    attentionDecode.cost(dims, { bytesPerElement: 2, indices, scalars: { window } });
  // q and out, keys and values, lse.
  expect(cost(0)).toEqual({
    flops: 4 * 4 * 8 * 12,
    bytes: (2 * 2 * 4 * 8 + 2 * 8 * 2 * 8) * 2 + 4 * 4 * 2,
  });
  // Slots 4 and 5, and 6 and 7.
  expect(cost(1)).toEqual({
    flops: 4 * 4 * 8 * 4,
    bytes: (2 * 2 * 4 * 8 + 2 * 4 * 2 * 8) * 2 + 4 * 4 * 2,
  });
});

it('times the plans its bench cases name', () => {
  for (const op of [attention, attentionDecode]) {
    for (const opCase of op.benchCases ?? []) {
      if (opCase.indices === undefined) continue;
      const tiny = { ...opCase, dims: { ...opCase.dims, H: 1, G: 1, D: 1 } };
      expect(drawInputs(op, tiny, randomAt(1))).toMatchObject(opCase.indices);
    }
  }
});
