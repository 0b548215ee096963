/** Opens the trackers of a run and keeps their failures away from it. */
import { type EventSink, messageOf, type RunEvent } from '@saccade/core';
import type { MetricsLog, MetricsRow } from '@saccade/run-store';
import type { Tracker, TrackerContext, TrackerUnit } from './tracker.ts';

/** A tracker's unit with the settings of the run. */
export interface ChosenTracker {
  readonly unit: TrackerUnit;
  readonly settings: Readonly<Record<string, unknown>>;
}

/** The open trackers of a run. */
export interface Trackers {
  /** The same log, whose rows also go to every tracker. */
  watch(log: MetricsLog): MetricsLog;
  /** Hands an event to every tracker that takes events. */
  readonly sink: EventSink;
  /** Closes all trackers; waits for each for at most `CLOSE_SECONDS`. */
  close(): Promise<void>;
}

/** The time that a tracker has to send what is left when the run ends. */
export const CLOSE_SECONDS = 10;

/**
 * Opens trackers. One that fails, now or later, is reported once with a warning and left out from
 * then on; it never stops the run.
 */
export async function openTrackers(
  chosen: readonly ChosenTracker[],
  context: TrackerContext,
  onEvent: EventSink,
): Promise<Trackers> {
  const open = new Map<string, Tracker>();
  const fail = (name: string, error: unknown): void => {
    if (!open.delete(name)) return;
    onEvent({
      kind: 'warning',
      message: `The tracker ${name} failed and is left out from now on: ${messageOf(error)}`,
    });
  };
  const ask = async (name: string, work: () => void | Promise<void>): Promise<void> => {
    try {
      await work();
    } catch (error) {
      fail(name, error);
    }
  };
  for (const { unit, settings } of chosen) {
    // In the map before it opens, so that a failure to open counts as one.
    const pending: Tracker = { metrics() {}, close() {} };
    open.set(unit.name, pending);
    await ask(unit.name, async () => {
      open.set(unit.name, await unit.open(settings, context));
    });
  }
  const everyone = (call: (tracker: Tracker) => void | Promise<void>): void => {
    for (const [name, tracker] of [...open]) void ask(name, () => call(tracker));
  };
  return {
    watch: (log) => ({
      ...log,
      append(row: MetricsRow) {
        log.append(row);
        everyone((tracker) => tracker.metrics(row));
      },
    }),
    sink(event: RunEvent) {
      // Rows come whole, by the log.
      if (event.kind !== 'metrics') everyone((tracker) => tracker.event?.(event));
    },
    async close() {
      const all = [...open].map(([name, tracker]) => ask(name, () => closeInTime(tracker)));
      await Promise.all(all);
    },
  };
}

async function closeInTime(tracker: Tracker): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    const error = new Error(`it did not close within ${CLOSE_SECONDS} seconds.`);
    timer = setTimeout(() => reject(error), 1000 * CLOSE_SECONDS);
  });
  try {
    await Promise.race([tracker.close(), late]);
  } finally {
    clearTimeout(timer);
  }
}
