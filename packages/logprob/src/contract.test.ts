import { openDevice, referenceBackend } from '@saccade/ops';
import {
  checkBatchInvariance,
  checkGradients,
  checkRepeatable,
  compareWithOracle,
  fuzzCases,
} from '@saccade/ops/contract';
import { afterAll, describe, expect, it } from 'vitest';
import { logprobCatalog } from './registry.ts';

const device = openDevice(referenceBackend());
afterAll(() => device.dispose());

describe.each(logprobCatalog)('$id', (op) => {
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

  it('gives a row the same bits alone, in any batch and beside NaN', async () => {
    for (const opCase of cases) await checkBatchInvariance(device, op, opCase, 5);
  });
});
