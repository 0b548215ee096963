import { groupsOf, startTrace } from '@saccade/core';
import { expect, it } from 'vitest';
import type { Backend } from './backend.ts';
import { openDevice } from './device.ts';
import { add, gemm } from './ops/catalog.ts';
import { referenceBackend } from './reference-backend.ts';
import { tracedBackend } from './traced-backend.ts';

async function compute(backend: Backend): Promise<readonly number[]> {
  const device = openDevice(backend);
  const x = device.upload('f32', [2, 2], [1, 2, 3, 4]);
  const w = device.upload('f32', [2, 2], [5, 6, 7, 8]);
  const { y } = device.forward(gemm, { x, w });
  const { y: sum } = device.forward(add, { a: y, b: x });
  const { x: gradient } = device.backward(gemm, { y: sum }, { x, w }, { y }, {}, ['x']);
  const read = [...(await device.read(sum)), ...(await device.read(gradient as typeof x))];
  await device.synchronize();
  device.dispose();
  return read;
}

it('gives the results of the backend inside, and counts its launches by op', async () => {
  const expected = await compute(referenceBackend());
  const trace = startTrace();
  const found = await compute(tracedBackend(referenceBackend()));
  const groups = groupsOf(trace.finish());
  expect(found).toEqual(expected);
  const kernels = groups.find(({ name }) => name === 'kernels')?.parts ?? [];
  const counts = Object.fromEntries(kernels.map(({ name, count }) => [name, count]));
  expect(counts).toMatchObject({ 'kernels/gemm': 1, 'kernels/add': 1, 'kernels/gemm backward': 1 });
});

it('does not say that queued launches are the time of their kernels', async () => {
  const queued = referenceBackend();
  const trace = startTrace();
  await compute(tracedBackend(new Proxy(queued, queuedOf)));
  const names = groupsOf(trace.finish()).flatMap(({ parts }) => parts.map(({ name }) => name));
  expect(names).toContain('launches/queue');
  expect(names.filter((name) => name.startsWith('kernels/'))).toEqual(['kernels/queued']);
});

/** The same backend, as one whose launches run later. */
const queuedOf: ProxyHandler<Backend> = {
  get(inner, name) {
    if (name === 'isBlocking') return undefined;
    const value: unknown = Reflect.get(inner, name, inner);
    return typeof value === 'function' ? value.bind(inner) : value;
  },
};
