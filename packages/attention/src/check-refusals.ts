/** Layouts that kernels must refuse: segments that are no forest, spans outside the cache. */
import { DataError } from '@saccade/core';
import type { Device, DeviceArray } from '@saccade/ops';
import { expectError } from '@saccade/ops/contract';
import { attention, attentionDecode } from './ops/catalog.ts';

/** Invalid plans of 9 tokens: start, end and parent of each segment. */
const NO_FORESTS: readonly (readonly [what: string, segments: readonly number[]])[] = [
  ['a gap', [0, 5, -1, 6, 9, -1]],
  ['a segment past the end', [0, 5, -1, 5, 10, -1]],
  ['an end before the start', [0, 5, -1, 5, 4, -1]],
  ['tokens that no segment has', [0, 5, -1, 5, 8, -1]],
  ['a start after the first token', [1, 9, -1]],
  ['a parent that the order has left', [0, 3, -1, 3, 6, -1, 6, 9, 0]],
  ['a parent that comes later', [0, 3, -1, 3, 6, 2, 6, 9, 0]],
  ['a segment that is its own parent', [0, 3, 0, 3, 9, 0]],
  ['a parent below −1', [0, 3, -2, 3, 9, 0]],
];

/** Invalid layouts of two rows over a cache of 9 slots: spans, and each row's offset in them. */
const NO_SPANS: readonly (readonly [
  what: string,
  spans: readonly number[],
  offsets: readonly number[],
])[] = [
  ['a span past the cache', [0, 5, 3, 11], [0, 1, 2]],
  ['an end before the start', [0, 5, 3, 1], [0, 1, 2]],
  ['a start below 0', [0, 5, -3, 1], [0, 1, 2]],
  ['offsets that fall', [0, 5, 3, 6], [0, 2, 1]],
  ['offsets past the spans', [0, 5, 3, 6], [0, 2, 5]],
];

/**
 * Checks that attention refuses segments that do not tile the tokens in depth-first pre-order.
 *
 * @throws ContractError  if it takes one, or says something else
 */
export async function checkForestRefusals(device: Device): Promise<void> {
  const array = (heads: number): DeviceArray =>
    device.upload('f32', [9, heads, 4], new Float32Array(9 * heads * 4));
  const inputs = { q: array(2), k: array(1), v: array(1) };
  for (const [what, rows] of NO_FORESTS) {
    const segments = device.upload('i32', [rows.length / 3, 3], rows);
    await expectRefusal(device, what, /^attention: .*segment/, () =>
      device.forward(attention, { ...inputs, segments }),
    );
    device.free(segments);
  }
  for (const one of Object.values(inputs)) device.free(one);
}

/**
 * Checks that decoding refuses spans that are not in the cache, and offsets that are not in order.
 *
 * @throws ContractError  if it takes one, or says something else
 */
export async function checkSpanRefusals(device: Device): Promise<void> {
  const array = (rows: number, heads: number): DeviceArray =>
    device.upload('f32', [rows, heads, 4], new Float32Array(rows * heads * 4));
  const inputs = { q: array(2, 2), kCache: array(9, 1), vCache: array(9, 1) };
  for (const [what, rows, starts] of NO_SPANS) {
    const spans = device.upload('i32', [rows.length / 2, 2], rows);
    const spanOffsets = device.upload('i32', [starts.length], starts);
    await expectRefusal(device, what, /^attentionDecode: .*(span|offset)/i, () =>
      device.forward(attentionDecode, { ...inputs, spans, spanOffsets }),
    );
    for (const one of [spans, spanOffsets]) device.free(one);
  }
  for (const one of Object.values(inputs)) device.free(one);
}

/** Thrown at once by a backend that runs launches at once, else by the next wait. */
function expectRefusal(
  device: Device,
  what: string,
  message: RegExp,
  launch: () => Readonly<Record<string, DeviceArray>>,
): Promise<void> {
  const run = async (): Promise<void> => {
    for (const array of Object.values(launch())) device.free(array);
    await device.synchronize();
  };
  return expectError(what, run, DataError, message);
}
