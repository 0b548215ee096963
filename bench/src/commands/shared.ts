/** Options that several subcommands have, and where their results go. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { type Command, InvalidArgumentError } from 'commander';

/** A whole number of at least 1 from the command line. */
export function parseCount(text: string): number {
  const count = Number(text);
  if (Number.isInteger(count) && count >= 1) return count;
  throw new InvalidArgumentError('Pass a whole number, 1 or more.');
}

export function parseSeconds(text: string): number {
  const seconds = Number(text);
  if (seconds > 0) return seconds;
  throw new InvalidArgumentError('Pass a number of seconds above 0.');
}

/** What commander makes of the options that {@link addRunOptions} adds. */
export interface RunFlags {
  readonly backend: string;
  readonly isa?: string;
  readonly threads?: number;
  readonly dtype?: string;
  readonly peers?: boolean;
  readonly python?: string;
  readonly rounds: number;
  readonly seconds: number;
  readonly json?: string;
}

export function addRunOptions(command: Command): Command {
  return command
    .option('--backend <name>', 'native, or reference: the float64 oracles themselves', 'native')
    .option('--isa <name>', 'instruction set of the native backend: generic, avx2, avx512, …')
    .option('--threads <count>', 'threads for us and for every peer', parseCount)
    .option('--dtype <types>', 'storage types, comma between: f32,bf16. Default: all an op has')
    .option('--rounds <count>', 'samples wanted of each measurement', parseCount, 30)
    .option('--seconds <s>', 'about how long a measurement may take', parseSeconds, 8)
    .option('--peers', 'measure other libraries in turns with ours, after comparing results')
    .option('--python <path>', 'an interpreter with torch, for --peers')
    .option('--json <file>', 'write the results with machine, versions, commit and date');
}

/** Writes a result where `--json` says, if it does. */
export function writeJson(path: string | undefined, result: unknown): void {
  if (path === undefined) return;
  const file = resolve(path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, `${JSON.stringify(result, null, 1)}\n`);
  console.error(`Results: ${file}`);
}
