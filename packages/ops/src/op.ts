/**
 * Defines an op: named operands over named axes, a float64 forward and backward that read like
 * the formula, tolerances, test cases and a cost. Everything else (comparison with kernels,
 * gradient checks, poisoning, benches, docs) is derived from this one object.
 */
import { bytesOf, ConfigError, type DType, type Random } from '@saccade/core';

/** Axis lengths by letter: `{ N: 3, D: 128 }`. */
export type Dims = Readonly<Record<string, number>>;

/** Numbers that an op takes besides arrays: `{ eps: 1e-6 }`. */
export type Scalars = Readonly<Record<string, number>>;

/** Host arrays by operand name. Float operands are float64, index operands int32. */
export type Values = Readonly<Record<string, Float64Array | Int32Array>>;

/** Declaration of one array of an op: its axes, storage types and whether it has a gradient. */
export interface Operand {
  /** Axis letters, outermost first. A letter stands for the same length in every operand. */
  readonly axes: readonly string[];
  /** Storage types a kernel may be given. `['i32']` marks an index operand. */
  readonly dtypes: readonly DType[];
  /** True where a gradient is defined. */
  readonly grad?: boolean;
  /**
   * `f32` where the gradient sums many rows and 16 bits would lose them: the gradient is then at
   * least f32, whatever the operand's own type. Absent: the gradient has the operand's type.
   */
  readonly gradDtype?: 'f32';
  /** True where the operand may be left out; kernels then get a null pointer. */
  readonly optional?: boolean;
}

/**
 * Declaration of an output: an operand, whether it overwrites an input, and how its error counts.
 */
export interface OutputOperand extends Operand {
  /** Name of the input whose buffer the kernel updates in place to make this output. */
  readonly inPlaceOf?: string;
  /**
   * How its error is measured: by the relative Frobenius norm (the default), or by the largest
   * absolute difference, for logprobs, which are exponents. Integers must be equal.
   */
  readonly measure?: 'relative' | 'absolute';
}

/**
 * A smaller problem inside a larger one, whose results must have the same bits: some rows of a
 * matrix, one sequence of a batch. Tests use it for batch invariance and isolation.
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
  /** Index operands that have these values instead of random ones, for example a plan to time. */
  readonly indices?: Values;
  /** Outputs whose gradients a timed backward gets. Default: all differentiable ones. */
  readonly gradOf?: readonly string[];
}

/**
 * The inputs besides dims on which a call's cost depends: in attention, the plan decides which
 * pairs count.
 */
export interface CostCall {
  readonly bytesPerElement: number;
  /** The call's index operands. */
  readonly indices: Values;
  readonly scalars: Scalars;
}

/** The work that every kernel of an op has to do. */
export interface Cost {
  /** Floating-point operations; a multiply-add is two. */
  readonly flops: number;
  /** Bytes moved if each operand moves once. */
  readonly bytes: number;
}

/**
 * Declaration of one op: operands, float64 oracles, tolerances, test cases and cost. Backends
 * implement it under its `id`; every test of a kernel is derived from it.
 *
 * Without type arguments it is any op, whose operands have unknown names.
 */
export interface Op<
  Inputs extends Readonly<Record<string, Operand>> = Readonly<Record<string, Operand>>,
  Outputs extends Readonly<Record<string, OutputOperand>> = Readonly<Record<string, OutputOperand>>,
  Scalar extends string = string,
> {
  /** camelCase name, the same in `kernels/`, in messages and in bench results. */
  readonly id: string;
  /** Inputs in the order kernels receive them. */
  readonly inputs: Inputs;
  /** Outputs in the order kernels receive them. */
  readonly outputs: Outputs;
  /** Scalars with their defaults, in the order kernels receive them. */
  readonly scalars: Readonly<Record<Scalar, number>>;

  /**
   * Checks dims beyond equal letters: a sentence with the fact and the remedy, or undefined if they
   * are valid.
   */
  readonly check?: (dims: Dims) => string | undefined;

  /** The oracle: outputs in float64. Absent optional inputs are absent keys. */
  forward(inputs: Values, dims: Dims, scalars: Scalars): Values;

  /**
   * The oracle's gradients: ∂L/∂input for each differentiable input present, given ∂L/∂output for
   * all differentiable outputs, zeros where none was given. `saved` holds the inputs and the
   * forward's outputs.
   */
  readonly backward?: (gradOutputs: Values, saved: Values, dims: Dims, scalars: Scalars) => Values;

  /**
   * Draws values for operands that normal numbers do not suit: indices, plans, probabilities,
   * positive second moments. Operands that it does not return are drawn from a standard normal.
   */
  readonly sample?: (dims: Dims, random: Random) => Values;

  /**
   * Relative Frobenius error a kernel may have against the oracle, by storage type; inputs are
   * rounded to that type first.
   */
  readonly tolerance: Readonly<Partial<Record<DType, number>>>;
  /** The same for gradients. Default: `tolerance`. */
  readonly gradTolerance?: Readonly<Partial<Record<DType, number>>>;

  /** Small shapes that exercise every edge: 1, odd, below and above the tile sizes. */
  readonly cases: readonly OpCase[];
  /** Draws a random case for fuzzing. */
  readonly fuzz?: (random: Random) => OpCase;
  /** Draws a smaller problem inside this one; see {@link Part}. */
  readonly part?: (inputs: Values, dims: Dims, scalars: Scalars, random: Random) => Part;
  /** Shapes for benchmarks. */
  readonly benchCases?: readonly OpCase[];
  /** Work of the forward. */
  cost(dims: Dims, call: CostCall): Cost;
  /** Work of the backward that computes all gradients; every op with a backward has it. */
  backwardCost?(dims: Dims, call: CostCall): Cost;
}

/**
 * An op whose calls are typed by its definition: `device.forward(op, …)` takes the inputs and scalars
 * that it declares, and returns its outputs, by name.
 */
export function defineOp<
  const Inputs extends Readonly<Record<string, Operand>>,
  const Outputs extends Readonly<Record<string, OutputOperand>>,
  Scalar extends string = never,
>(op: Op<Inputs, Outputs, Scalar>): Op<Inputs, Outputs, Scalar> {
  return op;
}

/** Storage types of activations and weights; f64 is for references only. */
export const FLOATS: readonly DType[] = ['f32', 'bf16', 'f16', 'f64'];

/**
 * Storage types of operands that need more than 16 bits: statistics, logprobs, angles, optimizer
 * state.
 */
export const WIDE_FLOATS: readonly DType[] = ['f32', 'f64'];

/** Storage type of an index operand. */
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
