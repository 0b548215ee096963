/** Facts about the devices from the driver's tool; without them a GPU time says little. */
import { spawnSync } from 'node:child_process';

const FIELDS = [
  'name',
  'driver_version',
  'clocks.sm',
  'clocks.max.sm',
  'clocks.mem',
  'power.draw',
  'power.limit',
  'temperature.gpu',
] as const;

/** By field, with units, for the first device. */
export type DeviceFacts = Readonly<Record<string, string>>;

/** The facts of this moment, or why they are not known. */
export function readDeviceFacts(tool = 'nvidia-smi'): DeviceFacts | { readonly unknown: string } {
  const args = [`--query-gpu=${FIELDS.join(',')}`, '--format=csv,noheader'];
  const { status, stdout, stderr, error } = spawnSync(tool, args, {
    encoding: 'utf8',
    timeout: 10_000,
  });
  if (error) return { unknown: `${tool}: ${error.message}` };
  if (status !== 0) return { unknown: `${tool} ended with ${status}: ${stderr || stdout}`.trim() };
  return parseDeviceFacts(stdout);
}

/** The first line of comma-separated values, in the order asked for. */
export function parseDeviceFacts(text: string): DeviceFacts {
  const values = text.split('\n')[0]?.split(',') ?? [];
  return Object.fromEntries(FIELDS.map((field, i) => [field, values[i]?.trim() ?? '']));
}
