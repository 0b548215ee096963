import { randomAt } from '@saccade/core';
import { openDevice, referenceBackend } from '@saccade/ops';
import {
  checkBatchInvariance,
  checkGradients,
  checkRepeatable,
  compareWithOracle,
  fuzzCases,
} from '@saccade/ops/contract';
import { afterAll, describe, expect, it } from 'vitest';
import { drawSegments } from './draw-segments.ts';
import { attentionCatalog } from './registry.ts';
import { planSegments } from './segments.ts';

const device = openDevice(referenceBackend());
afterAll(() => device.dispose());

describe.each(attentionCatalog)('$id', (op) => {
  const cases = [...op.cases, ...fuzzCases(op, 4, 1)];

  it.runIf(op.backward)('has the gradients that central differences give', () => {
    for (const opCase of cases) {
      expect(checkGradients(op, opCase, 1).probes).toBeGreaterThan(2);
    }
  });

  it('runs on the reference backend without any error in float64', async () => {
    for (const opCase of cases) {
      expect((await compareWithOracle(device, op, opCase, 2, 'f64')).maxError).toBe(0);
    }
  });

  it('gives the same bits again', async () => {
    for (const opCase of op.cases.slice(0, 3))
      await checkRepeatable(device, op, opCase, 4, 'f32', 2);
  });

  it('gives a sequence the same bits alone, packed, unshared and beside NaN', async () => {
    for (const opCase of cases) {
      for (const seed of [5, 6]) await checkBatchInvariance(device, op, opCase, seed);
    }
  });
});

describe('drawSegments', () => {
  it('draws valid forests with shared prefixes down to three levels', () => {
    const depths = new Set<number>();
    for (let seed = 0; seed < 200; seed++) {
      const random = randomAt(seed, 'forests');
      const T = 1 + random.integer(40);
      const plan = planSegments(drawSegments(T, 1 + random.integer(Math.min(T, 9)), random));
      expect(plan.tokenCount).toBe(T);
      for (let s = 0; s < plan.segmentCount; s++) {
        let depth = 0;
        for (let up = s; up >= 0; up = plan.segments[3 * up + 2]) depth++;
        depths.add(depth);
      }
    }
    expect([...depths].sort()).toEqual([1, 2, 3]);
  });
});
