/** Names the process that holds a run directory, on whatever machine and after whatever start of it. */
import { readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { identifyProcess, isRunning } from '@saccade/core/processes';

/** A process as a lock names it: directories may be shared between machines. */
export interface HolderProcess {
  readonly pid: number;
  /** When it was started, as the system counts; empty where that is not known. */
  readonly startedAt: string;
  /** The start of the machine; empty where that is not known. */
  readonly boot: string;
  readonly host: string;
}

export function thisProcess(): HolderProcess {
  return {
    pid: process.pid,
    startedAt: identifyProcess(process.pid).started ?? '',
    boot: bootOf(),
    host: hostname(),
  };
}

/** Whether a process may still run. One on another machine may, as nobody here can know. */
export function mayBeAlive({ pid, startedAt, boot, host }: HolderProcess): boolean {
  if (host !== '' && host !== hostname()) return true;
  const booted = bootOf();
  if (boot !== '' && booted !== '' && boot !== booted) return false;
  return isRunning({ pid, started: startedAt === '' ? null : startedAt });
}

function bootOf(): string {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
  } catch {
    return '';
  }
}
