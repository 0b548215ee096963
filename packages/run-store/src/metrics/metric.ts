/** One metric of `metrics.jsonl`: what every caption, page and check says of it. */
import type { Stage } from '../metrics-log.ts';

/** One metric of the catalog. */
export interface Metric {
  /** As it is logged. `<word>` stands for one part of the name: `time/<phase>`. */
  readonly name: string;
  readonly unit: string;
  /** One sentence. */
  readonly meaning: string;
  /** Rows that have it. */
  readonly stages: readonly Stage[];
  /** File that computes it, from the root of the repository. */
  readonly source: string;
  /** Whether TRL logs it under this name too. */
  readonly isTrl?: boolean;
}

/** The metrics of one file, with the properties that they share. */
export function metricsOf(
  common: Pick<Metric, 'source' | 'stages'>,
  rows: readonly (readonly [name: string, unit: string, meaning: string, trl?: 'trl'])[],
): readonly Metric[] {
  return rows.map(([name, unit, meaning, trl]) => ({
    name,
    unit,
    meaning,
    ...common,
    ...(trl !== undefined && { isTrl: true }),
  }));
}
