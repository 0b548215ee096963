/** Checks of a backend's memory: ownership, bounds of views, and copies. */
import { randomAt, ShapeError, StateError } from '@saccade/core';
import type { BufferView, DeviceBuffer } from '../backend.ts';
import { ContractError } from '../contract-error.ts';
import { add } from '../ops/catalog.ts';
import { type DeviceCheck, needsOf, type Subject } from './check.ts';
import { expectError, expectSame } from './expect.ts';

/** All checks of a backend's memory. */
export const memoryChecks: readonly DeviceCheck[] = [
  { name: 'memory: live bytes are counted, and freed ones are not', needs: [], run: checkCount },
  { name: 'memory: a handle is good from alloc to free, at its own', needs: [], run: checkHandles },
  {
    name: 'memory: nothing is given by a backend that was disposed',
    needs: [],
    run: checkDisposed,
  },
  { name: 'memory: views and data must fit', needs: [], run: checkFit },
  { name: 'memory: what is written and read is a copy', needs: [], run: checkCopies },
  { name: 'memory: 16-bit data goes to any place', needs: [], run: checkHalves },
  { name: 'memory: zeros are zeros, whatever was there', needs: [], run: checkZeros },
  {
    name: 'memory: a launch refuses operands of other lengths than its dims',
    needs: needsOf(add, 'f32').slice(0, 1),
    run: checkLengths,
  },
  {
    name: 'memory: a launch takes views that begin at any element',
    needs: needsOf(add, 'f32').slice(0, 1),
    run: checkViews,
  },
  {
    name: 'memory: operands and results of a launch may share a buffer',
    needs: needsOf(add, 'f32'),
    run: checkSharedBuffer,
  },
];

const f32 = (buffer: DeviceBuffer, length: number, first = 0): BufferView => ({
  buffer,
  offsetBytes: 4 * first,
  dtype: 'f32',
  length,
});

async function checkCount({ device: { backend } }: Subject): Promise<void> {
  const random = randomAt(1, 'sizes');
  const before = backend.allocatedBytes();
  const sizes = Array.from({ length: 100 }, () => random.integer(10_000));
  const buffers = sizes.map((size) => backend.alloc(size));
  const all = sizes.reduce((a, b) => a + b, 0);
  expectBytes('100 buffers', backend.allocatedBytes() - before, all);
  for (const buffer of buffers) backend.free(buffer);
  expectBytes('100 buffers, freed again,', backend.allocatedBytes() - before, 0);
}

function expectBytes(what: string, got: number, expected: number): void {
  if (got === expected) return;
  throw new ContractError(`${what} count as ${got} bytes, expected ${expected}.`);
}

async function checkHandles({ device: { backend }, open }: Subject): Promise<void> {
  const other = await open();
  try {
    const buffer = backend.alloc(16);
    const view = f32(buffer, 4);
    const data = new Float32Array(4);
    await expectError('free elsewhere', () => other.backend.free(buffer), StateError);
    await expectError('write elsewhere', () => other.backend.write(view, data), StateError);
    await expectError('read elsewhere', () => other.backend.read(view), StateError);
    backend.free(buffer);
    await expectError('a second free', () => backend.free(buffer), StateError);
    await expectError('write after free', () => backend.write(view, data), StateError);
    await expectError('read after free', () => backend.read(view), StateError);
    await expectError('free of a stranger', () => backend.free({ sizeBytes: 4 }), StateError);
  } finally {
    other.dispose();
  }
}

async function checkDisposed({ open }: Subject): Promise<void> {
  const { backend } = await open();
  const view = f32(backend.alloc(16), 4);
  backend.dispose();
  await expectError('alloc', () => backend.alloc(4), StateError);
  await expectError('write', () => backend.write(view, new Float32Array(4)), StateError);
  await expectError('read', () => backend.read(view), StateError);
  await expectError('synchronize', () => backend.synchronize(), StateError);
  backend.dispose();
}

async function checkFit({ device: { backend } }: Subject): Promise<void> {
  const buffer = backend.alloc(16);
  const four = f32(buffer, 4);
  const write = (view: BufferView, length: number) => () =>
    backend.write(view, new Float32Array(length));
  await expectError('a view past the end', write(f32(buffer, 5), 5), ShapeError);
  await expectError('a view that starts past the end', write(f32(buffer, 1, 4), 1), ShapeError);
  await expectError('a view before the start', write(f32(buffer, 1, -1), 1), ShapeError);
  await expectError('too little data', write(four, 3), ShapeError, /needs 16 bytes/);
  await expectError('a negative size', () => backend.alloc(-1), ShapeError);
  await expectError('half a byte', () => backend.alloc(1.5), ShapeError);
  backend.free(buffer);
}

async function checkLengths({ device: { backend } }: Subject): Promise<void> {
  const four = f32(backend.alloc(16), 4);
  const operands = [four, four, f32(backend.alloc(16), 4)];
  const launch = { op: add, direction: 'forward', operands, scalars: {} } as const;
  const dispatch = () => backend.dispatch({ ...launch, dims: { N: 2, D: 3 } });
  await expectError('operands of 4 for dims of 6', dispatch, ShapeError, /add: .*24 bytes.*16/);
  for (const { buffer } of new Set(operands)) backend.free(buffer);
}

async function checkCopies({ device: { backend } }: Subject): Promise<void> {
  const view = f32(backend.alloc(8), 2);
  const data = Float32Array.of(1, 2);
  backend.write(view, data);
  data.fill(9);
  const first = (await backend.read(view)) as Float32Array;
  backend.write(view, Float32Array.of(3, 4));
  expectSame('what was read before a write', first, [1, 2]);
  first.fill(7);
  expectSame('what was written', (await backend.read(view)) as Float32Array, [3, 4]);
  backend.free(view.buffer);
}

async function checkZeros({ device }: Subject): Promise<void> {
  for (const dtype of ['f32', 'f16', 'bf16', 'i32'] as const) {
    // Freed memory is often given again.
    const full = device.upload(dtype, [7], new Float32Array(7).fill(3));
    device.free(full);
    const array = device.zeros(dtype, [7]);
    expectSame(`zeros of ${dtype}`, await device.read(array), new Float32Array(7));
    device.free(array);
  }
}

async function checkHalves({ device: { backend } }: Subject): Promise<void> {
  const buffer = backend.alloc(20);
  const halves = (first: number, length: number): BufferView => ({
    buffer,
    offsetBytes: 2 * first,
    dtype: 'f16',
    length,
  });
  const read = async (first: number, length: number): Promise<Uint16Array> =>
    (await backend.read(halves(first, length))) as Uint16Array;
  const expected = new Uint16Array(10).fill(0xabcd);
  backend.write(halves(0, 10), expected);
  const random = randomAt(2, 'halves');
  for (let i = 0; i < 30; i++) {
    const first = random.integer(10);
    const length = random.integer(11 - first);
    const piece = Uint16Array.from({ length }, () => random.integer(65_536));
    backend.write(halves(first, length), piece);
    expected.set(piece, first);
    expectSame(`${length} halves at ${first}`, await read(first, length), piece);
  }
  expectSame('the whole of it', await read(0, 10), expected);
  backend.free(buffer);
}

async function checkViews({ device: { backend } }: Subject): Promise<void> {
  const [buffer, sums] = [backend.alloc(4 * 400), backend.alloc(4 * 400)];
  const values = Float32Array.from({ length: 400 }, (_, i) => i);
  backend.write(f32(buffer, 400), values);
  for (const first of [0, 1, 3, 64, 65, 127]) {
    const y = f32(sums, 100, first);
    const operands = [f32(buffer, 100, first), f32(buffer, 100, 2 * first), y];
    const dims = { N: 25, D: 4 };
    backend.dispatch({ op: add, direction: 'forward', operands, dims, scalars: {} });
    const expected = values.subarray(0, 100).map((i) => 2 * i + 3 * first);
    expectSame(`views at ${first}`, (await backend.read(y)) as Float32Array, expected);
  }
  backend.free(buffer);
  backend.free(sums);
}

async function checkSharedBuffer({ device: { backend } }: Subject): Promise<void> {
  const buffer = backend.alloc(4 * 40);
  const ramp = Float32Array.from({ length: 40 }, (_, i) => i);
  backend.write(f32(buffer, 40), ramp);
  const sum = [f32(buffer, 9, 1), f32(buffer, 9, 11), f32(buffer, 9, 21)];
  const launch = { op: add, scalars: {} } as const;
  backend.dispatch({ ...launch, direction: 'forward', operands: sum, dims: { N: 3, D: 3 } });
  // Two results in one buffer, and the gradient they are copied from beside them.
  const saved = [f32(buffer, 4, 5), f32(buffer, 4, 11), f32(buffer, 4, 15)];
  const operands = [f32(buffer, 4, 1), ...saved, f32(buffer, 4, 31), f32(buffer, 4, 36)];
  backend.dispatch({ ...launch, direction: 'backward', operands, dims: { N: 2, D: 2 } });
  const got = (await backend.read(f32(buffer, 40))) as Float32Array;
  const expected = ramp.slice();
  expected.set(
    ramp.subarray(0, 9).map((i) => 2 * i + 12),
    21,
  );
  expected.set([30, 1, 2, 3, 4, 35, 1, 2, 3, 4], 30);
  expectSame('a buffer of all operands', got, expected);
  backend.free(buffer);
}
