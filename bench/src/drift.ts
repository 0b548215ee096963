/** Whether a number that was sampled after every step of a long run drifts. */
import { quantile } from './statistics.ts';

export interface Drift {
  /** Median of the slopes between all pairs of blocks (Theil and Sen), in units per step. */
  readonly perStep: number;
  /** 20th and 80th percentile of those slopes. */
  readonly p20: number;
  readonly p80: number;
  /** Least and largest value, the warm-up left out. */
  readonly least: number;
  readonly most: number;
  /** Steps at the beginning that are left out. */
  readonly warmUp: number;
}

/** Share of the run that fills caches and pools. */
const WARM_UP = 0.2;
const BLOCKS = 16;

/** Steps of a block: what comes and goes must be at its least once in each. */
export function blockLength(steps: number): number {
  return Math.floor((steps - Math.floor(steps * WARM_UP)) / BLOCKS);
}

/**
 * The slope of what stays: each block of steps counts with its least value, since garbage of one
 * kind or another lies on top of it in between.
 *
 * @param values  one per step; NaN everywhere of fewer than 20
 */
export function driftOf(values: readonly number[]): Drift {
  const warmUp = Math.floor(values.length * WARM_UP);
  const kept = values.slice(warmUp);
  const length = blockLength(values.length);
  const least = Array.from({ length: length === 0 ? 0 : BLOCKS }, (_, block) =>
    Math.min(...kept.slice(block * length, (block + 1) * length)),
  );
  const slopes = least.flatMap((from, i) =>
    least.slice(i + 1).map((to, j) => (to - from) / ((j + 1) * length)),
  );
  return {
    perStep: quantile(slopes, 0.5),
    p20: quantile(slopes, 0.2),
    p80: quantile(slopes, 0.8),
    least: Math.min(...kept),
    most: Math.max(...kept),
    warmUp,
  };
}

export type Verdict = 'constant' | 'flat' | 'grows' | 'shrinks';

/**
 * `constant` where every step has the same value; `flat` where the slope cannot be told from none,
 * or is no steeper than allowed; else `grows` or `shrinks`.
 *
 * @param allowed  units per step
 */
export function verdictOf({ perStep, p20, p80, least, most }: Drift, allowed: number): Verdict {
  if (least === most) return 'constant';
  const isTold = p20 > 0 || p80 < 0;
  if (!isTold || Math.abs(perStep) <= allowed) return 'flat';
  return perStep > 0 ? 'grows' : 'shrinks';
}
