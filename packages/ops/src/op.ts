/**
 * What an op is: named operands over named axes, a float64 forward and backward that read like the
 * formula, tolerances, test cases and a cost. Everything else (comparison with kernels, gradient
 * checks, poisoning, benches, docs) is derived from this one object.
 */
import { bytesOf, ConfigError, type DType, type Random } from '@saccade/core';

/** Axis lengths by letter: `{ N: 3, D: 128 }`. */
export type Dims = Readonly<Record<string, number>>;

/** Plain numbers an op takes besides arrays: `{ eps: 1e-6 }`. */
export type Scalars = Readonly<Record<string, number>>;

/** Host arrays by operand name. Float operands are float64, index operands int32. */
export type Values = Readonly<Record<string, Float64Array | Int32Array>>;

export interface Operand {
  /** Axis letters, outermost first. A letter stands for the same length in every operand. */
  readonly axes: readonly string[];
  /** Storage types a kernel may be given. `['i32']` marks an index operand. */
  readonly dtypes: readonly DType[];
  /** True where a gradient is defined. */
  readonly grad?: boolean;
  /**
   * `f32` where the gradient adds up many rows and would lose them in fewer bits: it is at least
   * f32 whatever the operand's own type. Absent: the gradient has the operand's type.
   */
  readonly gradDtype?: 'f32';
  /** True where the operand may be left out; kernels then get a null pointer. */
  readonly optional?: boolean;
}

export interface OutputOperand extends Operand {
  /** Name of the input whose buffer the kernel updates in place to make this output. */
  readonly inPlaceOf?: string;
  /**
   * How its error is measured: relative Frobenius norm (the default), or the largest absolute
   * difference, for log-probabilities, which are exponents. Integers must be equal.
   */
  readonly measure?: 'relative' | 'absolute';
}

/**
 * A smaller problem inside a bigger one, whose results must be the same bits: some rows of a
 * matrix, one sequence of a batch. It is how batch invariance and isolation are tested.
 */
export interface Part {
  readonly dims: Dims;
  /** The part's index operands. */
  readonly indices: Values;
  /** By float input: element i of the part's input is element `inputs[name][i]` of the whole's. */
  readonly inputs: Readonly<Record<string, Int32Array>>;
  /** By output: element i of the part's output is element `outputs[name][i]` of the whole's. */
  readonly outputs: Readonly<Record<string, Int32Array>>;
}

/** One shape to test or bench, with the scalars that differ from the op's defaults. */
export interface OpCase {
  readonly dims: Dims;
  readonly scalars?: Scalars;
  /** Optional operands to leave out in this case. */
  readonly without?: readonly string[];
  /** Index operands with these values instead of drawn ones: a plan worth timing. */
  readonly indices?: Values;
  /** Outputs whose gradients a timed backward gets; all differentiable ones where absent. */
  readonly gradOf?: readonly string[];
}

/** What a call costs, beyond its dims: who sees whom depends on a plan. */
export interface CostCall {
  readonly bytesPerElement: number;
  /** The call's index operands. */
  readonly indices: Values;
  readonly scalars: Scalars;
}

/** Work that no kernel can do without. */
export interface Cost {
  /** Floating-point operations; a multiply-add is two. */
  readonly flops: number;
  /** Bytes that must move: each operand once. */
  readonly bytes: number;
}

export interface Op {
  /** camelCase name, the same in `kernels/`, in messages and in bench results. */
  readonly id: string;
  /** Inputs in the order kernels receive them. */
  readonly inputs: Readonly<Record<string, Operand>>;
  /** Outputs in the order kernels receive them. */
  readonly outputs: Readonly<Record<string, OutputOperand>>;
  /** Scalars with their defaults, in the order kernels receive them. */
  readonly scalars: Scalars;

  /** What is wrong with the dims beyond unequal letters: one sentence, one remedy. */
  readonly check?: (dims: Dims) => string | undefined;

  /** The oracle: outputs in float64. Absent optional inputs are absent keys. */
  forward(inputs: Values, dims: Dims, scalars: Scalars): Values;

  /**
   * The oracle's gradients: for each differentiable input present, ∂L/∂input, given ∂L/∂output for
   * the differentiable outputs (all of them, zeros where none came). `saved` holds the inputs and
   * the forward outputs.
   */
  readonly backward?: (gradOutputs: Values, saved: Values, dims: Dims, scalars: Scalars) => Values;

  /**
   * Values for operands that random normals would not fit: indices, plans, probabilities, positive
   * second moments. Called with the case's dims; operands not returned are drawn from a normal.
   */
  readonly sample?: (dims: Dims, random: Random) => Values;

  /**
   * Relative Frobenius error a kernel may have against the oracle, by storage type; inputs are
   * rounded to that type first.
   */
  readonly tolerance: Readonly<Partial<Record<DType, number>>>;
  /** Tolerance of the gradients; the forward's where absent. */
  readonly gradTolerance?: Readonly<Partial<Record<DType, number>>>;

  /** Small shapes that exercise every edge: 1, odd, below and above the tile sizes. */
  readonly cases: readonly OpCase[];
  /** Draws one more random case for fuzzing. */
  readonly fuzz?: (random: Random) => OpCase;
  /** Draws a smaller problem inside this one; see {@link Part}. */
  readonly part?: (inputs: Values, dims: Dims, scalars: Scalars, random: Random) => Part;
  /** Shapes worth timing. */
  readonly benchCases?: readonly OpCase[];
  /** Work of the forward. */
  cost(dims: Dims, call: CostCall): Cost;
  /** Work of the backward that gives all gradients; every op with a backward says it. */
  backwardCost?(dims: Dims, call: CostCall): Cost;
}

/** The storage types of activations and weights; f64 is for references only. */
export const FLOATS: readonly DType[] = ['f32', 'bf16', 'f16', 'f64'];

/** Those of what 16 bits are too few for: statistics, log-probs, angles, an optimizer's state. */
export const WIDE_FLOATS: readonly DType[] = ['f32', 'f64'];

/** The storage type of an index operand. */
export const INDICES: readonly DType[] = ['i32'];

/**
 * The scalars of a call: the op's defaults, overridden by the caller's, in declared order.
 *
 * @throws ConfigError if a name is not one of the op's
 */
export function resolveScalars(op: Op, given?: Scalars): Scalars {
  if (given === undefined) return op.scalars;
  for (const name of Object.keys(given)) {
    if (!(name in op.scalars)) {
      const known = Object.keys(op.scalars).join(', ') || 'none';
      throw new ConfigError(
        `${op.id}.${name}`,
        `${op.id}: there is no scalar "${name}". Known: ${known}.`,
      );
    }
  }
  return { ...op.scalars, ...given };
}

/** The storage type of an operand's gradient, where the operand itself is stored as `dtype`. */
export function gradientDtype(operand: Operand, dtype: DType): DType {
  return operand.gradDtype !== undefined && bytesOf(dtype) < bytesOf(operand.gradDtype)
    ? operand.gradDtype
    : dtype;
}

/** Operands that carry gradients out of `backward`, in declared order. */
export function differentiableInputs(op: Op): readonly string[] {
  return Object.keys(op.inputs).filter((name) => op.inputs[name]?.grad === true);
}

/** Outputs whose gradients flow into `backward`, in declared order. */
export function differentiableOutputs(op: Op): readonly string[] {
  return Object.keys(op.outputs).filter((name) => op.outputs[name]?.grad === true);
}
