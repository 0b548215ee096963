/** Checks of backends that queue launches: their order, failures, and the end. */
import { DataError, StateError } from '@saccade/core';
import type { Device } from '../device.ts';
import type { DeviceArray } from '../device-array.ts';
import { add, gatherRows, gemm } from '../ops/catalog.ts';
import { type DeviceCheck, type Need, needsOf, type Subject } from './check.ts';
import { expectError, expectSame } from './expect.ts';

/** Side of the square matrices whose products keep a device busy, and how many products. */
export interface BusyWork {
  readonly size: number;
  readonly launches: number;
}

/**
 * Checks of the order of launches, for every backend, also one that runs them at once.
 *
 * @param busy  work of some 10 to 100 ms, so that what follows has to wait
 */
export function orderChecks(busy: BusyWork): readonly DeviceCheck[] {
  const needs = forwards(add, gemm);
  return [
    {
      name: 'queue: launches, writes and reads run in the order of the calls',
      needs,
      run: ({ device }) => checkOrder(device, busy),
    },
    {
      name: 'queue: a write does not overtake a launch that still reads the memory',
      needs,
      run: ({ device }) => checkOvertaking(device),
    },
    {
      name: 'queue: the order is kept over more launches than a batch holds',
      needs,
      run: ({ device }) => checkLongRow(device),
    },
  ];
}

/**
 * Checks of the order, and of how failures reach the waiting calls, for a backend whose launches
 * run after `dispatch` has returned.
 *
 * @param busy  as for {@link orderChecks}
 */
export function queueChecks(busy: BusyWork): readonly DeviceCheck[] {
  const needs = forwards(add, gemm, gatherRows);
  return [
    ...orderChecks(busy),
    {
      name: 'queue: what a kernel refused is reported at the next wait, with the op, once',
      needs,
      run: ({ device }) => checkReport(device),
    },
    {
      name: 'queue: all waits behind a failure are rejected, those before it are not',
      needs,
      run: ({ device }) => checkWaits(device, busy),
    },
    {
      name: 'queue: reads under way are rejected when the backend is disposed of',
      needs,
      run: (subject) => checkDisposal(subject, busy),
    },
  ];
}

function forwards(...ops: readonly Need['op'][]): readonly Need[] {
  return ops.flatMap((op) => needsOf(op, 'f32').slice(0, 1));
}

/** A square matrix of one number. */
function square(device: Device, n: number, value: number): DeviceArray {
  return device.upload('f32', [n, n], new Float32Array(n * n).fill(value));
}

/** Queues work that writes only memory of its own. */
function keepBusy(device: Device, { size, launches }: BusyWork): void {
  const x = square(device, size, 1);
  for (let i = 0; i < launches; i++) device.free(device.forward(gemm, { x, w: x }).y);
  device.free(x);
}

async function checkOrder(device: Device, busy: BusyWork): Promise<void> {
  const y = device.upload('f32', [1, 4], [0, 0, 0, 0]);
  const one = device.upload('f32', [1, 4], [1, 1, 1, 1]);
  const reads: Promise<ArrayLike<number>>[] = [];
  keepBusy(device, busy);
  for (let i = 0; i < 100; i++) {
    // Caller's memory is free again once write returns, whether the bytes are copied or queued.
    const bytes = new Float32Array(4).fill(i);
    device.write(y, bytes);
    bytes.fill(-1);
    const sum = device.forward(add, { a: y, b: one }).y;
    reads.push(device.read(sum), device.read(y));
    device.free(sum);
  }
  for (const [i, row] of (await Promise.all(reads)).entries()) {
    const written = Math.floor(i / 2);
    const value = i % 2 === 0 ? written + 1 : written;
    expectSame(`read ${i}`, row, Array(4).fill(value));
  }
  device.free(y);
  device.free(one);
}

async function checkOvertaking(device: Device): Promise<void> {
  const n = 64;
  const w = square(device, n, 1);
  const sums: { readonly value: number; readonly read: Promise<ArrayLike<number>> }[] = [];
  for (let i = 1; i <= 200; i++) {
    // x is memory that the launch before may still be reading: freed, then handed out again.
    const x = square(device, n, i);
    const { y } = device.forward(gemm, { x, w });
    device.free(x);
    if (i % 2 === 0) sums.push({ value: n * i, read: device.read(y) });
    device.free(y);
    if (i % 50 === 0) await sums.at(-1)?.read;
  }
  for (const { value, read } of sums) {
    const sum = await read;
    expectSame(`the product of ${value / n}`, sum, new Float32Array(n * n).fill(value));
  }
  device.free(w);
}

async function checkLongRow(device: Device): Promise<void> {
  let y = device.upload('f32', [1, 1], [0]);
  const one = device.upload('f32', [1, 1], [1]);
  for (let i = 0; i < 500; i++) {
    const next = device.forward(add, { a: y, b: one }).y;
    device.free(y);
    y = next;
  }
  expectSame('500 additions of 1', await device.read(y), [500]);
  device.free(y);
  device.free(one);
}

async function checkDisposal({ open }: Subject, busy: BusyWork): Promise<void> {
  const device = await open();
  const x = square(device, 2, 1);
  keepBusy(device, busy);
  const waits: readonly Promise<unknown>[] = [device.read(x), device.synchronize()];
  for (const wait of waits) wait.catch(() => undefined);
  device.dispose();
  for (const [i, wait] of waits.entries()) {
    await expectError(`wait ${i}`, () => wait, StateError, /disposed of before/);
  }
  await expectError('a read after dispose', () => device.read(x), StateError, /disposed/);
}

/** A launch whose kernel refuses: the index is not below 1. */
function queueFailure(device: Device, index: number): void {
  const x = device.upload('f32', [1, 1], [0]);
  const wrong = device.upload('i32', [1], [index]);
  const { y } = device.forward(gatherRows, { x, index: wrong });
  for (const array of [x, wrong, y]) device.free(array);
}

async function checkReport(device: Device): Promise<void> {
  queueFailure(device, 7);
  const message = /gatherRows: .*index\[0\] is 7/;
  await expectError('the wait', () => device.synchronize(), DataError, message);
  await device.synchronize();
  const y = square(device, 2, 3);
  expectSame('memory after the report', await device.read(y), [3, 3, 3, 3]);
  queueFailure(device, 11);
  await expectError('a read', () => device.read(y), DataError, /index\[0\] is 11/);
  await device.synchronize();
  device.free(y);
}

async function checkWaits(device: Device, busy: BusyWork): Promise<void> {
  const before = device.upload('f32', [1, 1], [1]);
  const doubled = device.forward(add, { a: before, b: before }).y;
  const early = device.read(doubled);
  keepBusy(device, busy);
  queueFailure(device, 8);
  queueFailure(device, 9);
  const behind = device.forward(add, { a: doubled, b: doubled }).y;
  const target = device.upload('f32', [1, 1], [5]);
  const waits: readonly Promise<unknown>[] = [
    device.read(doubled),
    device.synchronize(),
    device.read(target),
  ];
  for (const wait of waits) wait.catch(() => undefined);
  expectSame('a read before the failure', await early, [2]);
  for (const [i, wait] of waits.entries()) {
    await expectError(`wait ${i} behind it`, () => wait, DataError, /index\[0\] is 8/);
  }
  // The second failure came behind the first, so there is nothing more to report; writes happened.
  expectSame('a write behind a failure', await device.read(target), [5]);
  const sum = device.forward(add, { a: target, b: target }).y;
  expectSame('a launch after the report', await device.read(sum), [10]);
  for (const array of [before, doubled, behind, target, sum]) device.free(array);
}
