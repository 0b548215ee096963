/** Whether Firecracker runs guests here, found by starting one. */
import { spawn } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { MissingError, messageOf } from '@saccade/core';
import type { MicroVmOptions } from '../../isolation.ts';
import { findCommand, runForText } from '../../python-interpreter.ts';
import { makeTemporary, removeTree } from '../../temporary.ts';
import { endsWithParent } from '../launcher.ts';

export interface FirecrackerProgram {
  readonly firecracker: string;
  readonly jailer?: string;
  /** Why there is no jailer, where it would be used. */
  readonly obstacle?: string;
}

/** The first with ACPI, by which guests find their devices. */
const oldest: readonly [number, number] = [1, 8];
/** A kernel without a disk gives up, and with it the machine, well within this. */
const trialMs = 6_000;

/**
 * @returns undefined where none is installed
 * @throws MissingError if a program that the options name is not there
 */
export function findFirecracker(options: MicroVmOptions): FirecrackerProgram | undefined {
  const firecracker = named('firecracker', options.firecracker) ?? findCommand('firecracker');
  if (firecracker === undefined) return undefined;
  if (process.getuid?.() !== 0) return { firecracker };
  const jailer =
    named('jailer', options.jailer) ??
    findCommand(join(dirname(firecracker), 'jailer')) ??
    findCommand('jailer');
  if (jailer !== undefined) return { firecracker, jailer };
  return {
    firecracker,
    obstacle:
      'Firecracker runs as root without a jail, because `jailer` is neither beside it nor on the ' +
      'PATH. Install it from the same release.',
  };
}

function named(option: string, path: string | undefined): string | undefined {
  if (path === undefined) return undefined;
  const found = findCommand(path);
  if (found !== undefined) return found;
  throw new MissingError(
    `microVm.${option}: there is no program at \`${path}\`. Correct the path.`,
  );
}

const trials = new Map<string, Promise<string | undefined>>();

/**
 * Why it runs no guests here; tried once for each program and kernel.
 *
 * @param kernel  a plain program (ELF)
 */
export function firecrackerObstacle(
  firecracker: string,
  kernel: string,
  device = '/dev/kvm',
): Promise<string | undefined> {
  const name = JSON.stringify([firecracker, kernel, device]);
  const known = trials.get(name) ?? tryGuest(firecracker, kernel, device);
  trials.set(name, known);
  return known;
}

async function tryGuest(
  firecracker: string,
  kernel: string,
  device: string,
): Promise<string | undefined> {
  try {
    accessSync(device, constants.R_OK | constants.W_OK);
    const text = await runForText(firecracker, ['--version']);
    const [, major = 0, minor = 0] = /Firecracker v(\d+)\.(\d+)\./.exec(text)?.map(Number) ?? [];
    if (major < oldest[0] || (major === oldest[0] && minor < oldest[1])) {
      const said = text.trim().split('\n')[0] ?? '';
      return `it says "${said}"; ${oldest.join('.')} or newer is needed`;
    }
  } catch (error) {
    return messageOf(error);
  }
  const folder = await makeTemporary('machine');
  try {
    const file = join(folder, 'config.json');
    await writeFile(file, JSON.stringify(trialMachine(kernel)));
    return await runTrial([firecracker, '--no-api', '--config-file', file]);
  } finally {
    await removeTree(folder);
  }
}

function trialMachine(kernel: string): object {
  return {
    'boot-source': { kernel_image_path: kernel, boot_args: 'panic=-1 reboot=k' },
    'machine-config': { vcpu_count: 1, mem_size_mib: 256 },
    drives: [],
  };
}

async function runTrial(words: readonly string[]): Promise<string | undefined> {
  const { command, args } = endsWithParent(words, '>&2');
  const child = spawn(command, [...args], { stdio: ['ignore', 'ignore', 'pipe'] });
  let said = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    said = (said + text).slice(-1_000);
  });
  const timer = setTimeout(() => child.kill('SIGKILL'), trialMs);
  const [code, signal] = await new Promise<[number | null, string | null]>((resolve) => {
    child.on('error', (error) => resolve([1, error.message]));
    child.on('close', (...end) => resolve(end));
  });
  clearTimeout(timer);
  if (code === 0) return undefined;
  if (signal === 'SIGKILL') return `a kernel did not start in ${trialMs / 1000} s`;
  const last = said.trim().split('\n').at(-1) ?? '';
  return last === '' ? `it ended with ${signal ?? `status ${code}`}` : last;
}
