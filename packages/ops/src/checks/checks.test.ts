/** The checks of backends: the reference backend passes them, and broken ones do not. */
import { DataError } from '@saccade/core';
import { afterAll, describe, expect, it } from 'vitest';
import type { Backend } from '../backend.ts';
import { openDevice } from '../device.ts';
import type { Op } from '../op.ts';
import { gelu } from '../ops/catalog.ts';
import { referenceBackend } from '../reference-backend.ts';
import { type DeviceCheck, listSkipped, type Subject, whyNot } from './check.ts';
import { dataChecks } from './data.ts';
import { opChecks } from './kernel.ts';
import { memoryChecks } from './memory.ts';
import { orderChecks, queueChecks } from './queue.ts';
import { runChecks } from './run.ts';

const BUSY = { size: 8, launches: 2 };

/** The reference backend, changed by `change`. */
function subjectOf(change: (backend: Backend) => void = () => {}): Subject {
  const open = () => {
    const backend = referenceBackend();
    change(backend);
    return openDevice(backend);
  };
  return { device: open(), open };
}

/** The faults of a backend, as the ends of the names of the checks that report them. */
async function faultsOf(
  checks: readonly DeviceCheck[],
  change: (backend: Backend) => void,
): Promise<Readonly<Record<string, string>>> {
  const subject = subjectOf(change);
  const faults: Record<string, string> = {};
  for await (const { name, outcome, message } of runChecks(checks, subject)) {
    if (outcome === 'failed') faults[name] = message ?? '';
  }
  subject.device.dispose();
  return faults;
}

describe('the reference backend', () => {
  const subject = subjectOf();
  afterAll(() => subject.device.dispose());
  // Its oracles follow an index wherever it points; kernels must not.
  const empty = dataChecks({}).filter(({ name }) => !name.includes('refuses'));
  for (const check of [...memoryChecks, ...orderChecks(BUSY), ...empty, ...opChecks(gelu)]) {
    it(check.name, () => check.run(subject));
  }
});

describe('the checks notice', () => {
  it('reads that share memory with the device', async () => {
    const faults = await faultsOf(memoryChecks, (backend) => {
      const held = new Map<object, ArrayBufferView>();
      const read = backend.read.bind(backend);
      backend.read = async (view) => {
        const bytes = held.get(view) ?? (await read(view));
        held.set(view, bytes);
        return bytes;
      };
    });
    expect(Object.keys(faults)).toContain('memory: what is written and read is a copy');
  });

  it('memory that is not counted, and handles that never end', async () => {
    const faults = await faultsOf(memoryChecks, (backend) => {
      backend.free = () => {};
    });
    expect(faults).toMatchObject({
      'memory: live bytes are counted, and freed ones are not': expect.stringMatching(/expected 0/),
      'memory: a handle is good from alloc to free, at its own': expect.stringMatching(
        /free elsewhere: expected StateError, got no error/,
      ),
    });
  });

  it('writes that overtake reads', async () => {
    const faults = await faultsOf(orderChecks(BUSY), (backend) => {
      const read = backend.read.bind(backend);
      backend.read = async (view) => {
        await Promise.resolve();
        return read(view);
      };
      backend.free = () => {};
    });
    expect(faults).toEqual({
      'queue: launches, writes and reads run in the order of the calls': expect.stringMatching(
        /read 1: element 0 of 4 is 99; expected 0 of 4/,
      ),
    });
  });

  it('failures that are not reported to all who wait', async () => {
    const checks = queueChecks(BUSY).filter(({ name }) => /refused|behind a failure/.test(name));
    const faults = await faultsOf(checks, (backend) => {
      const dispatch = backend.dispatch.bind(backend);
      let failure: unknown;
      backend.dispatch = (launch) => {
        if (launch.op.id === 'gatherRows') failure = new DataError('gatherRows: index[0] is 7');
        else dispatch(launch);
      };
      backend.synchronize = async () => {
        const found = failure;
        failure = undefined;
        if (found !== undefined) throw found;
      };
    });
    expect(faults).toMatchObject({
      'queue: what a kernel refused is reported at the next wait, with the op, once':
        expect.stringMatching(/a read: expected DataError like .*, got no error/),
      'queue: all waits behind a failure are rejected, those before it are not':
        expect.stringMatching(/wait 0 behind it: expected DataError like .*, got no error/),
    });
  });

  it('a kernel that fails in one case, and name the case', async () => {
    const faults = await faultsOf(opChecks(gelu), (backend) => {
      const dispatch = backend.dispatch.bind(backend);
      backend.dispatch = (launch) => {
        if (launch.dims.D === gelu.cases.at(-1)?.dims.D) throw new Error('out of registers');
        dispatch(launch);
      };
    });
    expect(Object.values(faults)[0]).toMatch(
      /gelu \(N \d+, D \d+; tanh [01]; f32, seed \d+\) failed: out of reg/,
    );
  });
});

describe('what a backend lacks', () => {
  const halfless = (backend: Backend): void => {
    backend.supports = (op: Op, direction, dtypes) => {
      if (dtypes.includes('f16')) return 'the kernel takes f32: this device lacks shader-f16.';
      return direction === 'forward' || op.backward !== undefined || 'there is no backward.';
    };
  };

  it('is the reason of a check that is skipped, in its own words', async () => {
    const subject = subjectOf(halfless);
    const checks = [...opChecks(gelu, { fuzzCount: 0 }), ...opChecks(gelu, { dtype: 'f16' })];
    const results = [];
    for await (const result of runChecks(checks, subject)) results.push(result);
    const halves = results.filter(({ name }) => name.includes('f16'));
    expect(halves.length).toBeGreaterThan(1);
    for (const { outcome, message } of halves) {
      expect([outcome, message]).toEqual(['skipped', expect.stringMatching(/lacks shader-f16/)]);
    }
    const others = results.filter(({ name }) => !name.includes('f16'));
    expect(others.map(({ outcome }) => outcome)).toEqual(others.map(() => 'passed'));
    expect(listSkipped(checks, subject.device.backend)).toMatch(
      /skipped on float64 oracles.*\n {2}3 \(gelu in f16 .*, …\): .* lacks shader-f16\.$/,
    );
    subject.device.dispose();
  });

  it('leaves out the backward of ops for backends without one', () => {
    const subject = subjectOf((backend) => {
      backend.supports = (_, direction) => direction === 'forward' || 'it has no backward.';
    });
    const { backend } = subject.device;
    expect(opChecks(gelu).map((check) => whyNot(check, backend))).toContain('it has no backward.');
    const forward = opChecks(gelu, { forwardOnly: true });
    expect(forward.map((check) => whyNot(check, backend))).toEqual(forward.map(() => undefined));
    subject.device.dispose();
  });
});
