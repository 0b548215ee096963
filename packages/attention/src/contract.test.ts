import { randomAt } from '@saccade/core';
import { type Backend, openDevice, referenceBackend } from '@saccade/ops';
import {
  checkBatchInvariance,
  checkGradients,
  checkRepeatable,
  compareWithOracle,
  fuzzCases,
} from '@saccade/ops/contract';
import { afterAll, describe, expect, it } from 'vitest';
import { attentionChecks } from './contract.ts';
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

  it.runIf(op.part)(
    'gives a sequence the same bits alone, packed, unshared and beside NaN',
    async () => {
      for (const opCase of cases) {
        for (const seed of [5, 6]) await checkBatchInvariance(device, op, opCase, seed);
      }
    },
  );
});

/** Checks of relations between launches, besides those of each op. */
const relations = attentionChecks().filter(({ name }) => {
  // The oracle follows whatever layout it is given; a kernel must not.
  return !/oracle|again|part of a batch|refuses/.test(name);
});

describe('the reference backend', () => {
  const subject = { device, open: () => openDevice(referenceBackend()) };
  for (const check of relations) it(check.name, () => check.run(subject));
});

describe('the contract notices', () => {
  /** Runs a relation on the reference backend, with `fault` after each launch. */
  const run = (name: RegExp, fault: (...launch: Parameters<Backend['dispatch']>) => number) => {
    const check = relations.find((candidate) => name.test(candidate.name));
    const backend = referenceBackend();
    const dispatch = backend.dispatch.bind(backend);
    backend.dispatch = (launch) => {
      dispatch(launch);
      // The last result, which is the gradient of v or the log-sum-exp.
      const view = launch.operands.at(-1);
      const value = fault(launch);
      if (view !== undefined && value !== 0) {
        backend.write({ ...view, length: 1 }, Float32Array.of(value));
      }
    };
    const broken = openDevice(backend);
    return check?.run({ device: broken, open: () => broken });
  };

  it('a prefix whose results depend on what shares it', async () => {
    const fault = run(/shared prefix the bits/, ({ dims }) => dims.S);
    await expect(fault).rejects.toThrow(/prefix 90, responses 40, 7, 65.*lse of head 0: element 0/);
  });

  it('a key of a prefix that does not collect from all who continue it', async () => {
    const fault = run(/shared prefix the gradients/, ({ direction, dims }) =>
      direction === 'backward' && dims.S === 4 ? 30 : 0,
    );
    await expect(fault).rejects.toThrow(
      /gradient of v differs from the sum over the repeated prefix/,
    );
  });

  it('NaN that reaches another tree', async () => {
    let launches = 0;
    const fault = run(/keeps NaN/, ({ direction }) =>
      direction === 'backward' && launches++ === 1 ? Number.NaN : 0,
    );
    await expect(fault).rejects.toThrow(/NaN in tokens 69 to 98 changes .* v of token 0/);
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
