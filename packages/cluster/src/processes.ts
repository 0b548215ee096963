/** Processes of a cluster on this machine: whether one lives, which belong to it, and their end. */
import { readdirSync, readFileSync } from 'node:fs';
import { MARK } from './plan.ts';

/** A process for sure: its number may be given to another one, but not with the same start. */
export interface ProcessIdentity {
  readonly pid: number;
  /** Its start by the system's clock; null where the system does not tell. */
  readonly started: string | null;
}

const LOOK_MS = 50;

/** The identity of a process that runs now. */
export function identify(pid: number): ProcessIdentity {
  return { pid, started: startOf(pid) };
}

/** Whether this very process runs. */
export function isRunning({ pid, started }: ProcessIdentity): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    // It runs, and is not ours.
    if ((error as NodeJS.ErrnoException).code !== 'EPERM') return false;
  }
  if (process.platform !== 'linux') return true;
  const now = statOf(pid);
  if (now === undefined || now.isZombie) return false;
  return started === null || now.started === started;
}

/** Fields of /proc/<pid>/stat after the name, which may have spaces and parentheses itself. */
function statOf(pid: number): { readonly isZombie: boolean; readonly started: string } | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
    return { isZombie: fields[0] === 'Z', started: fields[19] ?? '' };
  } catch {
    return undefined;
  }
}

function startOf(pid: number): string | null {
  return statOf(pid)?.started ?? null;
}

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
    .map(identify)
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
