/** Processes of a cluster on this machine: which belong to it, and their end. */
import { readdirSync, readFileSync } from 'node:fs';
import { identifyProcess, isRunning, type ProcessIdentity } from '@saccade/core/processes';
import { MARK } from './plan.ts';

const LOOK_MS = 50;

/**
 * Processes on this machine that carry the mark of a cluster in their environment, without this one.
 * Empty where the system does not show environments.
 */
export function findMarked(id: string): readonly ProcessIdentity[] {
  let names: readonly string[];
  try {
    names = readdirSync('/proc');
  } catch {
    return [];
  }
  const mark = `${MARK}=${id}`;
  return names
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .map(Number)
    .filter((pid) => hasVariable(pid, mark))
    .map(identifyProcess)
    .filter(isRunning);
}

function hasVariable(pid: number, mark: string): boolean {
  try {
    return readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0').includes(mark);
  } catch {
    return false;
  }
}

/** Sends a signal to a process, or with a minus sign to its group; whether it was there. */
export function signal(pid: number, name: NodeJS.Signals): boolean {
  try {
    process.kill(pid, name);
    return true;
  } catch {
    return false;
  }
}

/** Waits until something is so. @returns whether it is, after at most `seconds` */
export async function waitUntil(isSo: () => boolean, seconds: number): Promise<boolean> {
  const until = performance.now() + 1000 * seconds;
  while (!isSo()) {
    if (performance.now() > until) return false;
    await new Promise((wake) => setTimeout(wake, LOOK_MS));
  }
  return true;
}
