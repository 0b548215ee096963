/** Constants that state where they come from. */

/**
 * Where a constant comes from:
 *
 * - `paper` printed in the paper;
 * - `code` read in the system's public code;
 * - `note` quoted by a third party;
 * - `reconstructed` printed nowhere: chosen here so that the paper's description holds;
 * - `ours` chosen here, or by the user;
 * - `derived` follows from other settings.
 */
export type Provenance = 'paper' | 'code' | 'note' | 'reconstructed' | 'ours' | 'derived';

/** A constant that a reward scores with. */
export type ConstantValue = number | string | boolean;

/** A value and where it comes from. */
export interface Constant<Value = ConstantValue> {
  readonly value: Value;
  readonly from: Provenance;
}

/** The constants of a reward or detector, by name. */
export type Constants = Readonly<Record<string, Constant>>;

/** Options whose values each state where they come from. */
export type Sourced<Options> = { readonly [Name in keyof Options]: Constant<Options[Name]> };

/** A value with its provenance. */
export function sourced<Value>(value: Value, from: Provenance): Constant<Value> {
  return { value, from };
}

/** The plain values. */
export function valuesOf<Options>(constants: Sourced<Options>): Options {
  const entries = Object.entries(constants as Constants);
  return Object.fromEntries(entries.map(([name, { value }]) => [name, value])) as Options;
}
