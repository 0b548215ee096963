/** Work with a trace around it, and what its process took meanwhile. */
import { PerformanceObserver, performance } from 'node:perf_hooks';
import { startTrace } from '@saccade/core';
import type { StoredProfile } from '@saccade/run-store';

/** What is profiled, for the record. */
export interface ProfiledWork {
  readonly what: string;
  /** Whether its device was opened with launches that block. Asked at the end. */
  readonly areLaunchesBlocking: () => boolean;
}

/**
 * Does `work` while a trace is on. The profile goes to `onProfile` however the work ends.
 *
 * @throws what `work` throws; StateError if a trace is on already
 */
export async function profileWork<Result>(
  { what, areLaunchesBlocking }: ProfiledWork,
  work: () => Promise<Result>,
  onProfile: (profile: StoredProfile) => void,
): Promise<Result> {
  const trace = startTrace({ active: () => performance.eventLoopUtilization().active });
  const startedAt = new Date().toISOString();
  const before = process.cpuUsage();
  let garbage = 0;
  const observer = new PerformanceObserver((list) => {
    for (const { duration } of list.getEntries()) garbage += duration;
  });
  observer.observe({ entryTypes: ['gc'] });
  try {
    return await work();
  } finally {
    const profile = trace.finish();
    const { user, system } = process.cpuUsage(before);
    for (const { duration } of observer.takeRecords()) garbage += duration;
    observer.disconnect();
    onProfile({
      what,
      startedAt,
      areLaunchesBlocking: areLaunchesBlocking(),
      processorSeconds: { user: user / 1e6, system: system / 1e6 },
      garbageSeconds: garbage / 1000,
      profile,
    });
  }
}
