/** Runs an op on a device and compares every number with the float64 oracle. */
import { randomAt } from '@saccade/core';
import { outputError, relativeError } from './compare.ts';
import { ContractError } from './contract-error.ts';
import { type Device, openDevice } from './device.ts';
import type { DeviceArray } from './device-array.ts';
import {
  activationDtype,
  describeCase,
  drawInputs,
  drawNormals,
  dtypeOf,
  roundTo,
} from './draw-inputs.ts';
import { type GuardedBackend, guardBackend } from './guard-backend.ts';
import { shapeOf } from './infer-dims.ts';
import {
  differentiableInputs,
  differentiableOutputs,
  type Op,
  type OpCase,
  resolveScalars,
  type Scalars,
  type StorageForm,
  type Values,
} from './op.ts';

/** Root mean square below which a gradient counts as 0: inputs and ∂L/∂output are of size 1. */
const GRADIENT_FLOOR = 0.1;
/** Error that a float64 kernel may have because it adds in another order. */
const F64_TOLERANCE = 1e-12;

/** The errors of one case on one device against the float64 oracle; see `compareWithOracle`. */
export interface ComparisonReport {
  readonly op: string;
  readonly case: string;
  readonly seed: number;
  readonly dtype: StorageForm;
  /** Error of each output, in the measure its op declares. */
  readonly outputs: Readonly<Record<string, number>>;
  /** Relative error of the gradient of each differentiable input. */
  readonly gradients: Readonly<Record<string, number>>;
  /** Largest error that an output, and a gradient, may have at this dtype. */
  readonly tolerance: number;
  readonly gradTolerance: number;
  /** The largest of all errors. */
  readonly maxError: number;
}

/** The arrays of one call on a guarded device. */
export interface Bench {
  readonly device: Device;
  readonly guard: GuardedBackend;
  /** Uploads an input by its name, rounded to the dtype of the run. */
  input(name: string, values: Values[string], dims: Readonly<Record<string, number>>): DeviceArray;
}

/** A device on the same backend whose allocations are poisoned and surrounded by canaries. */
export function guardedBench(device: Device, op: Op, dtype: StorageForm): Bench {
  const guard = guardBackend(device.backend);
  const guarded = openDevice(guard);
  return {
    device: guarded,
    guard,
    input: (name, values, dims) => {
      const operand = op.inputs[name];
      return guarded.upload(dtypeOf(operand, dtype), shapeOf(operand, dims), values);
    },
  };
}

/**
 * Compares forward and backward of one random case with the oracle, with floats stored as `dtype`.
 *
 * Inputs are rounded to their types first. Results start as NaN between bands of canaries. Inputs must
 * stay unchanged, a missing output gradient must act as zeros, and one gradient requested alone
 * must have the same bits as when all are requested.
 *
 * @param device  any device; its backend is used directly, so fallbacks do not count
 * @throws ContractError      saying what is wrong and by how much
 * @throws UnsupportedError   if the backend lacks the op
 */
export async function compareWithOracle(
  device: Device,
  op: Op,
  opCase: OpCase,
  seed: number,
  dtype: StorageForm = 'f32',
): Promise<ComparisonReport> {
  const run = new Comparison(device, op, opCase, seed, dtype);
  try {
    return await run.all();
  } finally {
    run.bench.guard.dispose();
  }
}

class Comparison {
  readonly bench: Bench;
  readonly #op: Op;
  readonly #case: OpCase;
  readonly #seed: number;
  readonly #dtype: StorageForm;
  readonly #scalars: Scalars;
  readonly #where: string;
  readonly #arrays: Record<string, DeviceArray> = {};
  #inputs: Values = {};

  constructor(device: Device, op: Op, opCase: OpCase, seed: number, dtype: StorageForm) {
    this.bench = guardedBench(device, op, dtype);
    this.#op = op;
    this.#case = opCase;
    this.#seed = seed;
    this.#dtype = dtype;
    this.#scalars = resolveScalars(op, opCase.scalars);
    this.#where =
      `${op.id} on ${device.backend.name} ` + `(${describeCase(opCase)}; ${dtype}, seed ${seed})`;
  }

  async all(): Promise<ComparisonReport> {
    const op = this.#op;
    const { dims } = this.#case;
    const random = randomAt(this.#seed, 'compare', op.id);
    const inputs: Record<string, Values[string]> = {};
    for (const [name, values] of Object.entries(drawInputs(op, this.#case, random))) {
      inputs[name] = roundTo(values, dtypeOf(op.inputs[name], this.#dtype));
      this.#arrays[name] = this.bench.input(name, inputs[name], dims);
    }
    this.#inputs = inputs;

    const tolerance = this.#tolerance(op.tolerance);
    const gradTolerance = this.#tolerance(op.gradTolerance ?? op.tolerance);
    const results = this.bench.device.forward(op, this.#arrays, this.#scalars);
    const expected = op.forward(inputs, dims, this.#scalars);
    const outputs: Record<string, number> = {};
    for (const [name, operand] of Object.entries(op.outputs)) {
      const got = await this.bench.device.read(results[name]);
      outputs[name] = outputError(operand, got, expected[name]);
      this.#expectWithin(`output ${name}`, outputs[name], tolerance, got, expected[name]);
    }
    await this.#expectUntouched('forward');

    const gradients =
      op.backward === undefined ? {} : await this.#backward(results, expected, gradTolerance);
    const maxError = Math.max(0, ...Object.values(outputs), ...Object.values(gradients));
    return {
      op: op.id,
      case: describeCase(this.#case),
      seed: this.#seed,
      dtype: this.#dtype,
      outputs,
      gradients,
      tolerance,
      gradTolerance,
      maxError,
    };
  }

  /** Once with all gradients of outputs, then with each of them alone. */
  async #backward(
    results: Record<string, DeviceArray>,
    outputs: Values,
    tolerance: number,
  ): Promise<Record<string, number>> {
    const { dims } = this.#case;
    const random = randomAt(this.#seed, 'compare-backward', this.#op.id);
    const names = differentiableOutputs(this.#op);
    const weights: Record<string, Values[string]> = {};
    for (const name of names) {
      const drawn = drawNormals(this.#op.outputs[name], dims, random);
      const rounded = roundTo(drawn, activationDtype(this.#dtype));
      weights[name] = roundTo(rounded, results[name].view.dtype);
    }
    const sets = names.length > 1 ? [names, ...names.map((name) => [name])] : [names];
    const worst: Record<string, number> = {};
    for (const given of sets) {
      const uploaded: Record<string, DeviceArray> = {};
      const zeroed: Record<string, Values[string]> = {};
      for (const name of names) {
        const isGiven = given.includes(name);
        zeroed[name] = isGiven ? weights[name] : new Float64Array(weights[name].length);
        if (!isGiven) continue;
        const { shape, view } = results[name];
        uploaded[name] = this.bench.device.upload(view.dtype, shape, weights[name]);
      }
      const saved = { ...this.#inputs, ...outputs };
      const expected = this.#op.backward?.(zeroed, saved, dims, this.#scalars) ?? {};
      const errors = await this.#gradients(uploaded, results, expected, tolerance);
      for (const [name, error] of Object.entries(errors)) {
        worst[name] = Math.max(worst[name] ?? 0, error);
      }
    }
    await this.#expectUntouched('backward');
    return worst;
  }

  /** All gradients of inputs together, then each of them alone, which must give the same bits. */
  async #gradients(
    gradOutputs: Record<string, DeviceArray>,
    results: Record<string, DeviceArray>,
    expected: Values,
    tolerance: number,
  ): Promise<Record<string, number>> {
    const { device } = this.bench;
    const run = (wanted?: readonly string[]): Record<string, DeviceArray> =>
      device.backward(this.#op, gradOutputs, this.#arrays, results, this.#scalars, wanted);
    const given = Object.keys(gradOutputs).join(' and ');
    const errors: Record<string, number> = {};
    const together = run();
    const names = differentiableInputs(this.#op).filter((name) => name in this.#inputs);
    for (const name of names) {
      const got = await device.read(together[name]);
      errors[name] = relativeError(got, expected[name], GRADIENT_FLOOR);
      const what = `the gradient of ${name}, given that of ${given},`;
      this.#expectWithin(what, errors[name], tolerance, got, expected[name]);
      if (names.length === 1) continue;
      const alone = await device.read(run([name])[name]);
      if (!got.every((value, i) => Object.is(value, alone[i]))) {
        throw new ContractError(
          `${this.#where}: the gradient of ${name} changes when it is the only one requested. ` +
            'A gradient that is not wanted must change nothing else.',
        );
      }
    }
    return errors;
  }

  #tolerance(table: Op['tolerance']): number {
    const dtype = activationDtype(this.#dtype);
    const declared = dtype === 'f64' ? F64_TOLERANCE : table[dtype];
    if (declared === undefined) {
      throw new ContractError(
        `${this.#op.id} declares no tolerance for ${dtype}. Add one to its file.`,
      );
    }
    return declared;
  }

  #expectWithin(
    what: string,
    error: number,
    tolerance: number,
    got: ArrayLike<number>,
    expected: ArrayLike<number>,
  ): void {
    if (error <= tolerance) return;
    let worst = 0;
    for (let i = 0; i < expected.length; i++) {
      const difference = Math.abs(got[i] - expected[i]);
      if (Number.isNaN(difference)) {
        worst = i;
        break;
      }
      if (difference > Math.abs(got[worst] - expected[worst])) worst = i;
    }
    throw new ContractError(
      `${this.#where}: ${what} is off by ${error.toExponential(2)}, tolerance ${tolerance}; ` +
        `worst at element ${worst}: got ${got[worst]}, expected ${expected[worst]}. ` +
        'Correct the kernel.',
    );
  }

  /** Inputs that no output replaces hold their bits, and nothing outside a buffer was written. */
  async #expectUntouched(direction: string): Promise<void> {
    await this.bench.guard.checkBands();
    const replaced = Object.values(this.#op.outputs).map((operand) => operand.inPlaceOf);
    for (const [name, values] of Object.entries(this.#inputs)) {
      if (replaced.includes(name)) continue;
      const now = await this.bench.device.read(this.#arrays[name]);
      if (!now.every((value, i) => Object.is(value, values[i]))) {
        throw new ContractError(
          `${this.#where}: the ${direction} changed input ${name}. Kernels may write results only.`,
        );
      }
    }
  }
}
