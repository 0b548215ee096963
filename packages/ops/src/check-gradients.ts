/** Compares an oracle's backward with central differences of its forward, all in float64. */
import { type Random, randomAt } from '@saccade/core';
import { ContractError } from './contract-error.ts';
import { describeCase, drawInputs, drawNormals } from './draw-inputs.ts';
import {
  differentiableInputs,
  differentiableOutputs,
  type Op,
  type OpCase,
  resolveScalars,
  type Values,
} from './op.ts';

const STEP = 1e-4;
const TOLERANCE = 1e-6;
/** Smallest scale of a relative error: the loss's rounding divided by the step is about 1e-10. */
const SLOPE_FLOOR = 0.1;
/** Most elements tested one by one. Large cases get fewer, so that none takes long. */
const MAX_ELEMENTS = 64;
const WORK_BUDGET = 1e7;

/**
 * The result of `checkGradients` for one case: how far the oracle's slopes are from differences.
 */
export interface GradientReport {
  readonly op: string;
  readonly case: string;
  readonly seed: number;
  /**
   * Worst relative error of a slope, by input:
   *
   *   |numeric − analytic| / max(|numeric|, |analytic|, 0.1)
   */
  readonly errors: Readonly<Record<string, number>>;
  /** The largest of `errors`; at most 1e-6, since more throws. */
  readonly maxError: number;
  /** Number of slopes compared, over all inputs. */
  readonly probes: number;
}

/**
 * Checks the gradient of every differentiable input of a case.
 *
 * L = Σ ⟨r, output⟩ for random r; the slope of L along random directions, and along single elements
 * as far as the work allows, is taken by the five-point central difference, error O(h⁴).
 *
 * @throws ContractError if a slope is off by more than 1e-6 of itself
 */
export function checkGradients(op: Op, opCase: OpCase, seed: number): GradientReport {
  const { dims } = opCase;
  const where = `${op.id} (${describeCase(opCase)}; seed ${seed})`;
  if (op.backward === undefined) {
    throw new ContractError(`${op.id} has no backward. Check only ops that have one.`);
  }
  const random = randomAt(seed, 'check-gradients', op.id);
  const scalars = resolveScalars(op, opCase.scalars);
  const inputs = drawInputs(op, opCase, random);
  const outputs = op.forward(inputs, dims, scalars);
  const gradOutputs: Record<string, Float64Array> = {};
  for (const name of differentiableOutputs(op)) {
    gradOutputs[name] = drawNormals(op.outputs[name], dims, random);
  }
  const gradients = op.backward(gradOutputs, { ...inputs, ...outputs }, dims, scalars);

  const loss = (name: string, direction: Direction, size: number): number => {
    const moved = Float64Array.from(inputs[name]);
    direction((i, slope) => {
      moved[i] += size * slope;
    });
    return innerProduct(gradOutputs, op.forward({ ...inputs, [name]: moved }, dims, scalars));
  };

  const { flops, bytes } = op.cost(dims, { bytesPerElement: 1, indices: inputs, scalars });
  const elementProbes = Math.min(MAX_ELEMENTS, Math.ceil(WORK_BUDGET / (flops + 8 * bytes) / 12));
  const errors: Record<string, number> = {};
  let probes = 0;
  for (const name of differentiableInputs(op)) {
    const input: Values[string] | undefined = inputs[name];
    if (input === undefined) continue;
    const gradient: Values[string] | undefined = gradients[name];
    if (gradient?.length !== input.length) {
      throw new ContractError(
        `${where}: the gradient of ${name} has ${gradient?.length ?? 'no'} elements, expected ` +
          `${input.length}. Return it from backward under the input's name.`,
      );
    }
    errors[name] = 0;
    for (const direction of directions(input.length, elementProbes, random)) {
      const at = (size: number): number => loss(name, direction, size);
      const numeric = (8 * (at(STEP) - at(-STEP)) - (at(2 * STEP) - at(-2 * STEP))) / (12 * STEP);
      let analytic = 0;
      direction((i, slope) => {
        analytic += gradient[i] * slope;
      });
      const scale = Math.max(Math.abs(numeric), Math.abs(analytic), SLOPE_FLOOR);
      const error = Math.abs(numeric - analytic) / scale;
      if (!(error <= TOLERANCE)) {
        throw new ContractError(
          `${where}: the gradient of ${name} gives slope ${analytic}, central differences give ` +
            `${numeric}. Correct the op's backward.`,
        );
      }
      errors[name] = Math.max(errors[name], error);
      probes++;
    }
  }
  const maxError = Math.max(0, ...Object.values(errors));
  return { op: op.id, case: describeCase(opCase), seed, errors, maxError, probes };
}

/** Calls back with index and value of each nonzero component of a direction. */
type Direction = (visit: (index: number, slope: number) => void) => void;

/** Two dense random directions of length 1, then single elements. */
function directions(length: number, elementProbes: number, random: Random): Direction[] {
  const dense = [0, 1].map((): Direction => {
    const slopes = Float64Array.from({ length }, () => random.normal());
    const norm = Math.sqrt(sumOfSquares(slopes));
    return (visit) => {
      slopes.forEach((slope, i) => {
        visit(i, slope / norm);
      });
    };
  });
  const all = Array.from({ length }, (_, i) => i);
  const chosen = length <= elementProbes ? all : random.shuffle(all).slice(0, elementProbes);
  return [
    ...dense,
    ...chosen.map(
      (i): Direction =>
        (visit) =>
          visit(i, 1),
    ),
  ];
}

function sumOfSquares(values: Float64Array): number {
  return values.reduce((sum, value) => sum + value * value, 0);
}

function innerProduct(weights: Values, values: Values): number {
  let sum = 0;
  for (const [name, weight] of Object.entries(weights)) {
    for (let i = 0; i < weight.length; i++) sum += weight[i] * values[name][i];
  }
  return sum;
}
