import { afterAll, describe, expect, it } from 'vitest';
import type { Backend } from './backend.ts';
import {
  absoluteError,
  checkBatchInvariance,
  checkGradients,
  checkRepeatable,
  compareWithOracle,
  fuzzCases,
  relativeError,
} from './contract.ts';
import { openDevice } from './device.ts';
import { hasWeights, type Op } from './op.ts';
import { gemm, rmsNorm, swiglu } from './ops/catalog.ts';
import { referenceBackend } from './reference-backend.ts';
import { opsCatalog } from './registry.ts';

const device = openDevice(referenceBackend());
afterAll(() => device.dispose());

describe.each(opsCatalog)('$id', (op) => {
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

  it('runs on the reference backend within one rounding in float32', async () => {
    for (const opCase of cases) {
      const { maxError } = await compareWithOracle(device, op, opCase, 3);
      expect(maxError).toBeLessThan(2 ** -24 * 16);
    }
  });

  it.runIf(hasWeights(op))('takes weights in bf16 beside activations in float32', async () => {
    for (const opCase of cases) await compareWithOracle(device, op, opCase, 3, 'mixed');
  });

  it('gives the same bits again', async () => {
    for (const opCase of op.cases.slice(0, 3))
      await checkRepeatable(device, op, opCase, 4, 'f32', 2);
  });

  it.runIf(op.part)('gives a row the same bits alone, in any batch and beside NaN', async () => {
    for (const opCase of cases) await checkBatchInvariance(device, op, opCase, 5);
  });

  it('leaves no memory behind', () => {
    expect(device.allocatedBytes()).toBe(0);
  });
});

/** The reference backend with a fault in what a launch does. */
function faulty(fault: (run: () => void, launch: Parameters<Backend['dispatch']>[0]) => void) {
  const backend = referenceBackend();
  const dispatch = backend.dispatch.bind(backend);
  backend.dispatch = (launch) => fault(() => dispatch(launch), launch);
  return openDevice(backend);
}

describe('the contract notices', () => {
  const small = { dims: { N: 3, D: 7 } };

  it('a wrong gradient', () => {
    const wrong: Op = {
      ...swiglu,
      backward: ({ y }, saved) => ({ gate: y.slice(), up: saved.gate.slice() }),
    };
    expect(() => checkGradients(wrong, small, 1)).toThrow(/the gradient of gate gives slope/);
  });

  it('an output that was never written', async () => {
    const broken = faulty(() => {});
    await expect(compareWithOracle(broken, swiglu, small, 1)).rejects.toThrow(
      /output y is off by Infinity.*got NaN/,
    );
  });

  it('a write outside the buffer', async () => {
    const broken = faulty((run, { operands }) => {
      run();
      const y = operands[2];
      if (y === undefined) return;
      const after = { ...y, offsetBytes: y.offsetBytes + y.length * 4, length: 1 };
      broken.backend.write(after, Float32Array.of(1));
    });
    await expect(compareWithOracle(broken, swiglu, small, 1)).rejects.toThrow(
      /wrote 0 bytes after output y of swiglu/,
    );
  });

  it('a changed input', async () => {
    const broken = faulty((run, { operands }) => {
      run();
      const x = operands[0];
      if (x !== undefined) broken.backend.write({ ...x, length: 1 }, Float32Array.of(1));
    });
    await expect(compareWithOracle(broken, rmsNorm, small, 1)).rejects.toThrow(
      /the forward changed input x/,
    );
  });

  it('a gradient that changes when the others are not asked for', async () => {
    const broken = faulty((run, launch) => {
      run();
      const db = launch.operands[7];
      if (launch.direction === 'backward' && launch.operands[5] === undefined && db) {
        broken.backend.write({ ...db, length: 1 }, Float32Array.of(9));
      }
    });
    await expect(
      compareWithOracle(broken, gemm, { dims: { M: 2, K: 2, N: 2 } }, 1),
    ).rejects.toThrow(/the gradient of b changes when it is the only one requested/);
  });

  it('a row that depends on its neighbors', async () => {
    const mixing: Op = {
      ...swiglu,
      forward: (inputs, dims, scalars) => {
        const { y } = swiglu.forward(inputs, dims, scalars);
        return { y: y.map((value) => value + 1e-3 * inputs.gate[0]) };
      },
    };
    const run = checkBatchInvariance(device, mixing, { dims: { N: 8, D: 3 } }, 1);
    await expect(run).rejects.toThrow(/output y (alone|beside NaN) gives/);
  });

  it('a result that changes from run to run', async () => {
    let calls = 0;
    const drifting: Op = {
      ...swiglu,
      forward: (inputs, dims, scalars) => {
        const { y } = swiglu.forward(inputs, dims, scalars);
        return { y: y.map((value) => value + calls++) };
      },
    };
    await expect(checkRepeatable(device, drifting, small, 1)).rejects.toThrow(/run 2 gives/);
  });
});

describe('error measures', () => {
  it('never let NaN or a stray infinity pass', () => {
    for (const bad of [NaN, Infinity, -Infinity]) {
      expect(relativeError([1, bad], [1, 2])).toBe(Infinity);
      expect(relativeError([1, 2], [1, bad])).toBe(Infinity);
      expect(absoluteError([bad], [0])).toBe(Infinity);
    }
    expect(relativeError([1], [1, 2])).toBe(Infinity);
  });

  it('accept the same infinity on both sides', () => {
    expect(relativeError([-Infinity, 1], [-Infinity, 1])).toBe(0);
    expect(absoluteError([-Infinity, 1.5], [-Infinity, 1])).toBe(0.5);
    expect(absoluteError([Infinity], [-Infinity])).toBe(Infinity);
  });

  it('are relative to the norm of what was expected', () => {
    expect(relativeError([3, 4.5], [3, 4])).toBeCloseTo(0.1, 12);
    expect(relativeError([1e-9], [0], 0.1)).toBeCloseTo(1e-8, 15);
  });
});
