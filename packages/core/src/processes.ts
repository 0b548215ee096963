/** Processes of this machine by number and start: numbers are given out again. */
import { readFileSync } from 'node:fs';

/** One process for sure: its number may go to another one, but not with the same start. */
export interface ProcessIdentity {
  readonly pid: number;
  /** Its start in ticks since that of the machine; null where the system does not tell. */
  readonly started: string | null;
}

/** The identity of a process that runs now. */
export function identifyProcess(pid: number): ProcessIdentity {
  return { pid, started: lookUp(pid)?.started ?? null };
}

/** Whether this very process runs. One of another user counts; one that has ended and is not collected does not. */
export function isRunning({ pid, started }: ProcessIdentity): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    // It runs, and is not ours.
    if ((error as NodeJS.ErrnoException).code !== 'EPERM') return false;
  }
  if (process.platform !== 'linux') return true;
  const now = lookUp(pid);
  // Another user's process may be hidden; its number is all there is to go by.
  if (now === undefined) return true;
  return !now.isZombie && (started === null || now.started === started);
}

function lookUp(pid: number): { readonly isZombie: boolean; readonly started: string } | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The name of the program stands in parentheses and may hold anything.
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
    return { isZombie: fields[0] === 'Z', started: fields[19] ?? '' };
  } catch {
    return undefined;
  }
}
