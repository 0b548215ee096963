/** How far a kernel is from float64: the op's own oracle, at a shape it can finish. */
import { type DType, UnsupportedError } from '@saccade/core';
import { type Cost, type Device, type Op, type OpCase, resolveScalars } from '@saccade/ops';
import { compareWithOracle, drawInputs } from '@saccade/ops/contract';
import { shortCase } from './prepared-case.ts';
import { quickRandom } from './quick-random.ts';

/** The most work that the oracle, plain TypeScript, does in a second or two. */
const FINISHABLE: Cost = { flops: 4e8, bytes: 4e7 };

export interface Accuracy {
  /** The largest error of any output or gradient, by the op's own measure. */
  readonly error: number;
  /** The shape it was measured at, where the timed one is too large for the oracle. */
  readonly at?: string;
}

/**
 * Compares forward and backward with the oracle.
 *
 * @throws ContractError     if the kernel is wrong: then there is nothing to time
 * @throws UnsupportedError  if the backend cannot run it
 */
export async function measureAccuracy(
  device: Device,
  op: Op,
  opCase: OpCase,
  dtype: DType,
): Promise<Accuracy> {
  const checked = isWithin(FINISHABLE, op, opCase) ? opCase : largestFinishable(op, opCase);
  const { maxError } = await compareWithOracle(device, op, checked, 1, dtype);
  return { error: maxError, ...(checked === opCase ? {} : { at: shortCase(checked) }) };
}

/** Whether a forward costs at most this. */
export function isWithin(most: Cost, op: Op, opCase: OpCase): boolean {
  // Dims alone decide whether it is safe to draw: every length once is far below any operand.
  const axes = Object.values(op.inputs).map(({ axes }) =>
    axes.reduce((size, axis) => size * (opCase.dims[axis] ?? 0), 8),
  );
  if (Math.max(...axes) > most.bytes) return false;
  const { flops, bytes } = costOf(op, opCase);
  return flops <= most.flops && bytes <= most.bytes;
}

/**
 * The largest of the op's test cases that are small enough for the oracle and leave out the same
 * operands.
 */
function largestFinishable(op: Op, opCase: OpCase): OpCase {
  const without = String(opCase.without ?? []);
  const same = op.cases.filter((candidate) => String(candidate.without ?? []) === without);
  const ranked = [...same].sort((a, b) => costOf(op, b).bytes - costOf(op, a).bytes);
  const found = ranked.find((candidate) => isWithin(FINISHABLE, op, candidate));
  if (found === undefined) {
    throw new UnsupportedError(
      `${op.id}: no test case is small enough for the oracle and leaves out ${without || 'nothing'}. ` +
        'Add one to the op.',
    );
  }
  return found;
}

function costOf(op: Op, opCase: OpCase): Cost {
  const indices = drawInputs(op, opCase, quickRandom(1, 'cost', op.id));
  const scalars = resolveScalars(op, opCase.scalars);
  return op.cost(opCase.dims, { bytesPerElement: 4, indices, scalars });
}
