/** Options that several subcommands have, and where their results go. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Command, InvalidArgumentError } from 'commander';
import { describeMachine, machineFolder } from '../machine.ts';
import { showProgress } from '../progress.ts';

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

/** The options that {@link addRunOptions} adds, as commander parses them. */
export interface RunFlags extends ResultFlags {
  readonly backend: string;
  readonly isa?: string;
  readonly threads?: number;
  readonly dtype?: string;
  readonly peers?: true | string;
  readonly python?: string;
  readonly rounds: number;
  readonly seconds: number;
}

export function addRunOptions(command: Command): Command {
  return addResultOptions(command)
    .option(
      '--backend <name>',
      'native, webgpu, or reference: the float64 oracles themselves',
      'native',
    )
    .option('--isa <name>', 'instruction set of the native backend: generic, avx2, avx512, …')
    .option('--threads <count>', 'threads for us and for every peer', parseCount)
    .option('--dtype <types>', 'storage types, comma between: f32,bf16. Default: all an op has')
    .option('--rounds <count>', 'samples wanted of each measurement', parseCount, 30)
    .option('--seconds <s>', 'about how long a measurement may take', parseSeconds, 8)
    .option('--peers [names]', 'other libraries in turns with ours, after comparing results')
    .option('--python <path>', 'an interpreter with torch, for --peers');
}

/** Names what the backend cannot run, with the fact and without the general remedy after it. */
export function reportSkipped(what: string, why: string): void {
  showProgress('');
  console.error(`left out: ${what}: ${why.split(/(?<=\.) /)[0]}`);
}

/** Where a result goes. */
export interface ResultFlags {
  readonly json?: string;
  readonly record?: boolean;
}

export function addResultOptions(command: Command): Command {
  return command
    .option('--json <file>', 'write the results with machine, versions, commit and date')
    .option('--record', 'the same, into bench/results/<machine>/');
}

/**
 * Writes a result where the flags say, if they do.
 *
 * @param kind  name of the file in the machine's folder
 */
export function writeResult({ json, record }: ResultFlags, kind: string, result: unknown): void {
  const paths = [...(json ? [resolve(json)] : []), ...(record ? [resultPath(`${kind}.json`)] : [])];
  for (const path of paths) writeText(path, `${JSON.stringify(result, null, 1)}\n`);
}

/** A file in the folder of this machine's results. */
export function resultPath(name: string): string {
  const results = fileURLToPath(new URL('../../results/', import.meta.url));
  return join(results, machineFolder(describeMachine()), name);
}

export function writeText(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
  console.error(`Results: ${path}`);
}
