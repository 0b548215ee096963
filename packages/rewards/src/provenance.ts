/** Constants that say where they come from. */

/**
 * - `paper` stands in the paper's text;
 * - `code` was read in the system's public code;
 * - `note` a third party quotes it;
 * - `reconstructed` none prints it: chosen here so that what the paper says of it holds;
 * - `ours` no paper speaks of it.
 */
export type Provenance = 'paper' | 'code' | 'note' | 'reconstructed' | 'ours';

export interface Constant<Value = number | string | boolean> {
  readonly value: Value;
  readonly from: Provenance;
}

export type Constants = Readonly<Record<string, Constant>>;

/** Options of which each value says where it comes from. */
export type Sourced<Options> = { readonly [Name in keyof Options]: Constant<Options[Name]> };

/** A component's constants as the paper has them, and as its public code has. */
export interface Variants<Options> {
  readonly paper: Sourced<Options>;
  readonly code: Sourced<Options>;
}

export function sourced<Value>(value: Value, from: Provenance): Constant<Value> {
  return { value, from };
}

/** The plain values. */
export function valuesOf<Options>(constants: Sourced<Options>): Options {
  const entries = Object.entries(constants as Constants);
  return Object.fromEntries(entries.map(([name, { value }]) => [name, value])) as Options;
}
