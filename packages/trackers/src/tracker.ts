/** A tracker: a place that the metrics of a run go to while it trains. */
import type { RunEvent } from '@saccade/core';
import type { SettingsOf, SettingsSchema, Unit } from '@saccade/core/settings';
import type { MetricsRow } from '@saccade/run-store';

/** The context that a run gives a tracker when it opens. */
export interface TrackerContext {
  /** The run's directory. */
  readonly directory: string;
  readonly runName: string;
  /** The run's whole configuration, JSON. */
  readonly config: unknown;
  /**
   * Rows that the run logged before: empty for a new run. A resumed run repeats the steps after its
   * checkpoint, so a tracker that keeps a file of its own begins again from these rows.
   */
  readonly rows: readonly MetricsRow[];
}

/** An open tracker. A method that fails is not called again, and the run continues. */
export interface Tracker {
  /** Takes one row, as `metrics.jsonl` has it. */
  metrics(row: MetricsRow): void | Promise<void>;
  /** Takes what else happens: warnings, fallbacks, progress. */
  event?(event: RunEvent): void | Promise<void>;
  close(): void | Promise<void>;
}

/** A tracker that a run can name. */
export interface TrackerUnit<Schema extends SettingsSchema = SettingsSchema> extends Unit<Schema> {
  /** @throws Error if it cannot be opened; the run warns and continues without it */
  open(settings: SettingsOf<Schema>, context: TrackerContext): Tracker | Promise<Tracker>;
}

/** Defines your own tracker, for catalogs and recipes. */
export function defineTracker<const Name extends string, Schema extends SettingsSchema>(
  unit: TrackerUnit<Schema> & { readonly name: Name },
): TrackerUnit<Schema> & { readonly name: Name } {
  return unit;
}
