import { openDevice, referenceBackend } from '@saccade/ops';
import {
  checkBatchInvariance,
  checkGradients,
  checkRepeatable,
  compareWithOracle,
  fuzzCases,
} from '@saccade/ops/contract';
import { afterAll, describe, expect, it } from 'vitest';
import { checkRowsLeftOut, logprobChecks } from './contract.ts';
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

/** Checks of relations between launches, besides those of each op. */
const relations = logprobChecks().filter(({ name }) => {
  // The oracle follows a target wherever it points; a kernel must not.
  return !/oracle|again|part of a batch|refuses targets/.test(name);
});

describe('the reference backend', () => {
  const subject = { device, open: () => openDevice(referenceBackend()) };
  for (const check of relations) it(check.name, () => check.run(subject));
});

it('notices rows left out that reach the gradient of the weights', async () => {
  const backend = referenceBackend();
  const dispatch = backend.dispatch.bind(backend);
  let launches = 0;
  backend.dispatch = (launch) => {
    dispatch(launch);
    const dWeight = launch.operands.at(-1);
    if (launch.direction !== 'backward' || launches++ !== 1 || dWeight === undefined) return;
    backend.write({ ...dWeight, length: 1 }, Float32Array.of(Number.NaN));
  };
  const broken = openDevice(backend);
  await expect(checkRowsLeftOut(broken, 1)).rejects.toThrow(
    /dWeight beside rows of NaN that are left out: element 0 of 1330 is NaN/,
  );
});
