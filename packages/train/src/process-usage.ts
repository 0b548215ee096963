/** What this process and its sandbox have used since they began. */
import { performance } from 'node:perf_hooks';
import type { ProcessUsage } from '@saccade/loop';
import type { Sandbox } from '@saccade/sandbox';

/**
 * Seconds in which the event loop was not idle, those of all its threads on processors, and those of a
 * sandbox.
 */
export function processUsage(sandbox?: Pick<Sandbox, 'processorSeconds'>): ProcessUsage {
  const inside = sandbox?.processorSeconds?.();
  const { user, system } = process.cpuUsage();
  return {
    mainThread: performance.eventLoopUtilization().active / 1000,
    processors: (user + system) / 1e6,
    ...(inside !== undefined && { sandbox: inside }),
  };
}
