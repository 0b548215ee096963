/** Types of one call's arrays and scalars, by the names that the op's definition declares. */
import type { Op, Scalars } from './op.ts';

/** Names of operands with a flag that is true. */
type Flagged<Operands, Flag extends 'grad' | 'optional'> = {
  [Name in keyof Operands]: Operands[Name] extends { readonly [F in Flag]: true } ? Name : never;
}[keyof Operands] &
  string;

/** True for an op of unknown names: a member of a list of ops. */
type IsAnyOp<O extends Op> = string extends keyof O['outputs'] ? true : false;

type WithOptional<Required extends PropertyKey, Optional extends PropertyKey, Value> = {
  readonly [Name in Exclude<Required, Optional>]: Value;
} & { readonly [Name in Optional]?: Value | undefined };

/** Values by the names of an op's inputs. Those of optional inputs may be left out. */
export type InputsOf<O extends Op, Value> =
  IsAnyOp<O> extends true
    ? Readonly<Record<string, Value | undefined>>
    : WithOptional<keyof O['inputs'], Flagged<O['inputs'], 'optional'>, Value>;

/** Values by the names of an op's outputs. */
export type OutputsOf<O extends Op, Value> =
  IsAnyOp<O> extends true
    ? Record<string, Value>
    : { [Name in keyof O['outputs'] & string]: Value };

/** The forward's outputs as a backward takes them. */
export type SavedOf<O extends Op, Value> =
  IsAnyOp<O> extends true
    ? Readonly<Record<string, Value | undefined>>
    : Readonly<OutputsOf<O, Value>>;

/** Values by the names of the outputs through which gradients flow; all may be left out. */
export type GradOutputsOf<O extends Op, Value> =
  IsAnyOp<O> extends true
    ? Readonly<Record<string, Value | undefined>>
    : { readonly [Name in Flagged<O['outputs'], 'grad'>]?: Value | undefined };

/** Names of the inputs that have a gradient. */
export type GradientName<O extends Op> =
  IsAnyOp<O> extends true ? string : Flagged<O['inputs'], 'grad'>;

/**
 * Gradients by the names of their inputs: of those in `Wanted`, or, where it is `never`, of all; then
 * one of an optional input that was left out is absent.
 */
export type GradientsOf<O extends Op, Wanted extends string, Value> =
  IsAnyOp<O> extends true
    ? Record<string, Value>
    : [Wanted] extends [never]
      ? WithOptional<GradientName<O>, Flagged<O['inputs'], 'optional'> & GradientName<O>, Value>
      : { [Name in Wanted]: Value };

/** The scalars that a caller may set. */
export type ScalarsOf<O extends Op> =
  IsAnyOp<O> extends true
    ? Scalars
    : [keyof O['scalars']] extends [never]
      ? Readonly<Record<string, never>>
      : { readonly [Name in keyof O['scalars']]?: number };
