/** Constants that state where they come from. */

/**
 * - `paper` printed in the paper;
 * - `code` read in the system's public code;
 * - `note` quoted by a third party;
 * - `reconstructed` printed nowhere: chosen here so that the paper's description of it holds;
 * - `ours` chosen here, or by the user;
 * - `derived` follows from other settings.
 */
export type Provenance = 'paper' | 'code' | 'note' | 'reconstructed' | 'ours' | 'derived';

export type ConstantValue = number | string | boolean;

export interface Constant<Value = ConstantValue> {
  readonly value: Value;
  readonly from: Provenance;
}

export type Constants = Readonly<Record<string, Constant>>;

export function sourced<Value>(value: Value, from: Provenance): Constant<Value> {
  return { value, from };
}
