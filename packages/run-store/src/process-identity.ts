/** Names a process so that no later one is taken for it: process ids are used again. */
import { readFileSync } from 'node:fs';
import { hostname } from 'node:os';

export interface ProcessIdentity {
  readonly pid: number;
  /** When it was started, as the system counts; empty where that is not known. */
  readonly startedAt: string;
  /** The start of the machine; empty where that is not known. */
  readonly boot: string;
  readonly host: string;
}

function readOrEmpty(path: string): string {
  try {
    return readFileSync(path, 'utf8').trim();
  } catch {
    return '';
  }
}

/** Clock ticks from the start of the machine to that of the process. */
function startOf(pid: number): string {
  const stat = readOrEmpty(`/proc/${pid}/stat`);
  // The name of the program stands in parentheses and may hold anything.
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? '';
}

export function thisProcess(): ProcessIdentity {
  return {
    pid: process.pid,
    startedAt: startOf(process.pid),
    boot: readOrEmpty('/proc/sys/kernel/random/boot_id'),
    host: hostname(),
  };
}

/** Whether a process may still run. One on another machine may, as nobody here can know. */
export function mayBeAlive({ pid, startedAt, boot, host }: ProcessIdentity): boolean {
  const here = thisProcess();
  if (host !== '' && host !== here.host) return true;
  if (boot !== '' && here.boot !== '' && boot !== here.boot) return false;
  if (!exists(pid)) return false;
  const start = startOf(pid);
  return startedAt === '' || start === '' || start === startedAt;
}

/** One of another user counts. */
function exists(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
