/** Whether launches of several blocks give the same bits every time: a race seldom does. */
import { type DType, messageOf } from '@saccade/core';
import type { Device } from '@saccade/ops';
import { type PreparedCase, prepareCase } from '../prepared-case.ts';
import { isLost } from './device-checks.ts';
import type { GpuRow } from './gpu-rows.ts';
import type { Ledger } from './ledger.ts';

export interface RepeatResult {
  /** Title of the row, and the storage type. */
  readonly title: string;
  readonly repeats: number;
  /** Arrays that differed in some repeat, as `pass name (repeat, first byte)`; empty if all is well. */
  readonly differences: readonly string[];
}

/** A row that takes longer hangs. */
const LIMIT_SECONDS = 60;

export const failedRepeat = (title: string, message: string): RepeatResult => ({
  title,
  repeats: 0,
  differences: [message],
});

/**
 * Repeats those rows that the ledger does not have yet.
 *
 * @returns whether the ledger is complete; not where the device was lost
 */
export async function repeatRows(
  device: Device,
  rows: readonly GpuRow[],
  ledger: Ledger<RepeatResult>,
  { dtypes, times }: { readonly dtypes: readonly DType[]; readonly times: number },
): Promise<boolean> {
  const known = new Set(ledger.entries.map(({ title }) => title));
  for (const row of rows) {
    for (const dtype of dtypes) {
      const title = titleOf(row, dtype);
      if (known.has(title)) continue;
      const result = await ledger.run(title, LIMIT_SECONDS, () =>
        measureRepeats(device, row, dtype, times).catch((error: unknown) =>
          failedRepeat(title, messageOf(error)),
        ),
      );
      if (result.differences.length > 0 && (await isLost(device))) return false;
    }
  }
  ledger.finish();
  return true;
}

const titleOf = ({ title }: GpuRow, dtype: DType): string => `${title}, ${dtype}`;

/** Runs every pass of a row once and then `repeats` times more, and compares all that it writes. */
export async function measureRepeats(
  device: Device,
  row: GpuRow,
  dtype: DType,
  repeats: number,
): Promise<RepeatResult> {
  const { op, opCase, passes } = row.job;
  const prepared = prepareCase(device, op, opCase, dtype, passes);
  const differences: string[] = [];
  try {
    for (const pass of prepared.passes) {
      let first: ReadonlyMap<string, Uint8Array> | undefined;
      for (let repeat = 0; repeat <= repeats; repeat++) {
        prepared.launch(pass);
        const written = await readWritten(device, prepared);
        first ??= written;
        for (const [name, bytes] of written) {
          const at = firstDifferentByte(first.get(name), bytes);
          if (at >= 0) differences.push(`${pass} ${name} (repeat ${repeat}, byte ${at})`);
        }
      }
    }
  } finally {
    prepared.dispose();
  }
  return { title: titleOf(row, dtype), repeats, differences };
}

async function readWritten(
  device: Device,
  { outputs, gradInputs }: PreparedCase,
): Promise<ReadonlyMap<string, Uint8Array>> {
  const written = new Map<string, Uint8Array>();
  for (const [kind, arrays] of Object.entries({ output: outputs, gradient: gradInputs })) {
    for (const [name, array] of Object.entries(arrays)) {
      if (array === undefined) continue;
      const { buffer, byteOffset, byteLength } = await device.backend.read(array.view);
      written.set(`${kind} ${name}`, new Uint8Array(buffer, byteOffset, byteLength));
    }
  }
  return written;
}

/** Place of the first byte that differs, or −1. */
export function firstDifferentByte(a: Uint8Array | undefined, b: Uint8Array): number {
  if (a === undefined || a.length !== b.length) return 0;
  if (Buffer.compare(a, b) === 0) return -1;
  return a.findIndex((byte, i) => byte !== b[i]);
}
