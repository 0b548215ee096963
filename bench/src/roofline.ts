/**
 * The roofline: what a machine can do at most with work of a given arithmetic intensity.
 *
 * Williams, Waterman and Patterson 2009, "Roofline: an insightful visual performance model".
 */
import type { Cost } from '@saccade/ops';

/** Rates per second that a machine reaches at most. */
export interface Ceiling {
  readonly flops: number;
  readonly bytes: number;
}

/** Seconds the work takes at least: the longer of computing it and moving it. */
export function leastSeconds({ flops, bytes }: Cost, ceiling: Ceiling): number {
  return Math.max(flops / ceiling.flops, bytes / ceiling.bytes);
}

/** Part of the roofline that a time reaches, 1 at best. */
export function shareOfRoofline(cost: Cost, ceiling: Ceiling, seconds: number): number {
  return leastSeconds(cost, ceiling) / seconds;
}

/** The resource that limits the work. */
export function boundBy(cost: Cost, ceiling: Ceiling): 'compute' | 'memory' {
  return cost.flops / ceiling.flops >= cost.bytes / ceiling.bytes ? 'compute' : 'memory';
}
