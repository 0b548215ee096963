/** How near two values must be to count as one, and how much probing decides it. */

/** Numbers that decide about scalars; see `areEqualScalars`. */
export interface Precision {
  /** Largest relative difference where one side is written as a decimal, and so rounded. */
  readonly roundedTolerance: number;
  /** Largest relative difference of exact expressions: what float64 loses in evaluating them. */
  readonly exactTolerance: number;
  /** Points at which expressions with symbols are evaluated. */
  readonly probes: number;
  /** Points where both are defined, of those; fewer prove nothing. */
  readonly neededProbes: number;
}

/** Six figures of a rounded number, nine of an exact one. */
export const defaultPrecision: Precision = {
  roundedTolerance: 1e-6,
  exactTolerance: 1e-9,
  probes: 24,
  neededProbes: 6,
};
