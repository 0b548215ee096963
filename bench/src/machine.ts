/** Where, when and with what a result was measured: without it a number says nothing. */
import { spawnSync } from 'node:child_process';
import { cpus, release, totalmem, type } from 'node:os';
import { basename, dirname, isAbsolute } from 'node:path';
import { fileURLToPath } from 'node:url';

export interface Machine {
  readonly processor: string;
  /** Processors the system shows, hyper-threads included. */
  readonly processors: number;
  readonly memoryGiB: number;
  readonly system: string;
}

/** How a result came about; the same head for every kind of benchmark. */
export interface Provenance {
  readonly command: string;
  readonly date: string;
  /** `-dirty` where files differed from it. */
  readonly commit: string;
  readonly machine: Machine;
  readonly versions: Readonly<Record<string, string>>;
}

export function describeMachine(): Machine {
  return {
    processor: cpus()[0]?.model.trim() ?? 'unknown',
    processors: cpus().length,
    memoryGiB: Math.round(totalmem() / 2 ** 30),
    system: `${type()} ${release()}`,
  };
}

/** Name of a folder for this machine's results: `intel-xeon-processor-2-50ghz-x2`. */
export function machineFolder({ processor, processors }: Machine): string {
  const words = processor
    .toLowerCase()
    .replace(/\((r|tm)\)/g, '')
    .match(/[a-z0-9]+/g) ?? ['unknown'];
  return `${words.join('-')}-x${processors}`;
}

/**
 * @param args  of the command line, after `npm run bench --`; of a place on this machine, which tells
 *   nobody else anything, the last name is kept
 */
export function provenance(
  args: readonly string[],
  versions: Readonly<Record<string, string>> = {},
): Provenance {
  return {
    command: [
      'npm run bench --',
      ...args.map((arg) => (isAbsolute(arg) ? basename(arg) : arg)),
    ].join(' '),
    date: new Date().toISOString(),
    commit: describeCommit(),
    machine: describeMachine(),
    versions: { node: process.versions.node, ...versions },
  };
}

function describeCommit(): string {
  const cwd = dirname(fileURLToPath(import.meta.url));
  const args = ['describe', '--always', '--dirty', '--exclude=*', '--abbrev=12'];
  const { status, stdout } = spawnSync('git', args, { cwd, encoding: 'utf8' });
  return status === 0 ? stdout.trim() : 'unknown';
}
