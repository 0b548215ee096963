/** How fast engines and learner run while both have work, by where they are placed. */

/** Speeds relative to working alone, 0 to 1. */
export interface Shares {
  readonly engine: number;
  readonly learner: number;
}

/**
 * - `separate`: devices of their own; neither slows the other.
 * - `alternating`: one device, and the learner's long passes hold up the engine's short ones, as in
 *   one Saccade process, or in a trainer that puts its engine to sleep.
 * - `shared`: one device, whose time an operating system divides between two busy processes.
 */
export const placements = ['separate', 'alternating', 'shared'] as const;

/** One of `placements`. */
export type Placement = (typeof placements)[number];

const shares: Readonly<Record<Placement, Shares>> = {
  separate: { engine: 1, learner: 1 },
  alternating: { engine: 0, learner: 1 },
  shared: { engine: 0.5, learner: 0.5 },
};

/** Speeds of the two while both have work. */
export function sharesOf(placement: Placement): Shares {
  return shares[placement];
}
