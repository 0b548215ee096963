/** The score of an estimate of a number, such as a distance or a size in a video. */
import { ConfigError } from '@saccade/core';
import { expectCount } from './arguments.ts';

/** The tolerances of mean relative accuracy, in percent so that no threshold is off by rounding. */
export interface RelativeAccuracyOptions {
  /** Lowest accuracy θ that is asked for. Default 50. */
  readonly lowestPercent?: number;
  /** Highest accuracy θ that is asked for. Default 95. */
  readonly highestPercent?: number;
  /** Distance between two of them. Default 5. */
  readonly stepPercent?: number;
  /**
   * Whether an error of exactly 1 − θ keeps the tolerance. The paper says no (<), the benchmark's code
   * yes (<=). Default false, as in the paper.
   */
  readonly isBoundKept?: boolean;
}

/** A relative error within one part in 10¹¹ of a bound is on it: divisions round. */
const SLACK = 1e-9;

/**
 * Mean relative accuracy: the share of ten tolerances that an estimate keeps.
 *
 *   MRA = (1/10) · #{θ ∈ {0.5, 0.55, …, 0.95} : |ŷ − y| / |y| < 1 − θ}
 *
 * VSI-Bench, Yang et al. 2024, arXiv:2412.14171, §3.3. Where y is 0, only 0 is right.
 *
 * @param estimate ŷ; anything but a finite number keeps no tolerance
 * @param truth    y
 * @returns 0 … 1
 * @throws ConfigError for thresholds that are not whole percents from 1 to 99, lowest first
 */
export function meanRelativeAccuracy(
  estimate: number,
  truth: number,
  {
    lowestPercent = 50,
    highestPercent = 95,
    stepPercent = 5,
    isBoundKept = false,
  }: RelativeAccuracyOptions = {},
): number {
  expectCount('lowestPercent', lowestPercent, 1, 99);
  expectCount('highestPercent', highestPercent, lowestPercent, 99);
  expectCount('stepPercent', stepPercent, 1, 99);
  if (!Number.isFinite(truth)) {
    throw new ConfigError('truth', `truth: expected a finite number, got ${truth}.`);
  }
  if (!Number.isFinite(estimate)) return 0;
  if (truth === 0) return estimate === 0 ? 1 : 0;
  const errorPercent = (Math.abs(estimate - truth) / Math.abs(truth)) * 100;
  const slack = isBoundKept ? SLACK : -SLACK;
  let [kept, asked] = [0, 0];
  for (let percent = lowestPercent; percent <= highestPercent; percent += stepPercent) {
    asked++;
    if (errorPercent < 100 - percent + slack) kept++;
  }
  return kept / asked;
}
