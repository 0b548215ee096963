/** How many tasks a comparison needs. */
import { expectCount, expectPositive, expectShare } from './arguments.ts';
import { criticalValue, normalTail } from './normal.ts';

/** What a comparison should find. */
export interface PowerOptions {
  /** Mean difference between the models, such as 0.03; its sign does not matter. */
  readonly difference: number;
  /**
   * Standard deviation of the differences by task. For one sample of each task it is
   * √(d − difference²), where d is the share of tasks that one model alone solves.
   */
  readonly standardDeviation: number;
  /** Confidence of the two-sided test, 1 − α. Default 0.95. */
  readonly level?: number;
  /** Chance to find the difference if it is there, 1 − β. Default 0.8. */
  readonly power?: number;
}

/**
 * The chance that a two-sided paired test of `taskCount` tasks finds a difference.
 *
 *   Φ(√n δ/σ − z) + Φ(−√n δ/σ − z),   z = z_{1−α/2}
 *
 * @throws ConfigError for an argument out of its range
 */
export function powerOf(
  taskCount: number,
  { difference, standardDeviation, level = 0.95 }: Omit<PowerOptions, 'power'>,
): number {
  expectCount('taskCount', taskCount, 1);
  expectPositive('standardDeviation', standardDeviation);
  const shift = (Math.sqrt(taskCount) * Math.abs(difference)) / standardDeviation;
  const z = criticalValue(level);
  return normalTail(z - shift) + normalTail(z + shift);
}

/**
 * The fewest tasks with which a two-sided paired test finds a difference with the chance `power`.
 *
 *   n ≈ ((z_{1−α/2} + z_{1−β}) σ / δ)²
 *
 * It is solved for exactly, with the far tail. If the models differ by less, more tasks are needed.
 *
 * @throws ConfigError for a difference of 0, or an argument out of its range
 */
export function tasksNeeded({
  difference,
  standardDeviation,
  level = 0.95,
  power = 0.8,
}: PowerOptions): number {
  expectPositive('difference', Math.abs(difference));
  expectShare('power', power);
  const isEnough = (count: number): boolean =>
    powerOf(count, { difference, standardDeviation, level }) >= power;
  let high = 1;
  while (!isEnough(high)) high *= 2;
  let low = Math.floor(high / 2);
  // Not enough at `low`, enough at `high`.
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (isEnough(middle)) high = middle;
    else low = middle;
  }
  return high;
}
