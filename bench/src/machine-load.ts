/** How busy the machine is with other work: without it nobody can tell what a time is worth. */

import { cpus, loadavg } from 'node:os';
import { setTimeout as wait } from 'node:timers/promises';
import { formatPercent } from './units.ts';

/** The work of other processes, over half a second. */
export interface MachineLoad {
  /** Of all processors, 0 to 1. */
  readonly busyShare: number;
  /** Mean of processes that ran or waited in the last minute; absent where the system has none. */
  readonly loadAverage?: number;
  readonly processors: number;
}

/** Reads what a load is computed from; tests give their own. */
export interface LoadSource {
  /** Milliseconds of each processor since the start of the system. */
  cpus(): readonly { readonly times: Readonly<Record<string, number>> }[];
  /** Microseconds of this process. */
  cpuUsage(): { readonly user: number; readonly system: number };
  loadavg(): readonly number[];
}

const system: LoadSource = { cpus, cpuUsage: () => process.cpuUsage(), loadavg };

const SAMPLE_MILLISECONDS = 500;

/** Other work from which on single times say little: a fifth of one processor of two. */
const BUSY_SHARE = 0.1;

/** Watches the processors for half a second, in which this process has to do nothing. */
export async function machineLoad(source: LoadSource = system): Promise<MachineLoad> {
  const [before, ownBefore] = [timesOf(source), source.cpuUsage()];
  await wait(SAMPLE_MILLISECONDS);
  const [after, own] = [timesOf(source), source.cpuUsage()];
  const ours = (own.user - ownBefore.user + own.system - ownBefore.system) / 1000;
  const busy = after.busy - before.busy - ours;
  const passed = after.all - before.all;
  const [loadAverage = 0] = source.loadavg();
  return {
    busyShare: passed > 0 ? Math.min(1, Math.max(0, busy / passed)) : 0,
    // Windows gives 0, always.
    ...(process.platform !== 'win32' && { loadAverage }),
    processors: source.cpus().length,
  };
}

function timesOf(source: LoadSource): { readonly busy: number; readonly all: number } {
  let [busy, all] = [0, 0];
  for (const { times } of source.cpus()) {
    for (const [what, milliseconds] of Object.entries(times)) {
      all += milliseconds;
      if (what !== 'idle') busy += milliseconds;
    }
  }
  return { busy, all };
}

/** `load before: 3 % of 2 processors taken by other work, load average 0.42`. */
export function describeLoad(when: 'before' | 'after', load: MachineLoad): string {
  const { busyShare, loadAverage, processors } = load;
  const mean = loadAverage === undefined ? '' : `, load average ${loadAverage.toFixed(2)}`;
  return `load ${when}: ${formatPercent(busyShare)} of ${processors} processors taken by other work${mean}`;
}

/** A warning where the machine is not idle enough for single times. */
export function warningOf({ busyShare, processors }: MachineLoad): string | undefined {
  if (busyShare < BUSY_SHARE) return undefined;
  return (
    `warning: the machine is busy: other work takes ${formatPercent(busyShare)} of ${processors} ` +
    'processors. Times come out too long; only ratios of turns say something. End it, or wait.'
  );
}
