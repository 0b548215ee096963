/** Every op says what its bench cases cost: the bench prints nothing it was not told. */
import { resolveScalars, shapeOf } from '@saccade/ops';
import { drawInputs } from '@saccade/ops/contract';
import { expect, it } from 'vitest';
import { allOps } from './catalog-ops.ts';
import { quickRandom } from './quick-random.ts';

it.each(allOps.map((op) => [op.id, op] as const))('%s has bench cases and costs', (_, op) => {
  expect(op.benchCases?.length).toBeGreaterThan(0);
  expect(op.backwardCost === undefined).toBe(op.backward === undefined);
  const opCase = op.cases.at(-1) ?? { dims: {} };
  const { dims } = opCase;
  const indices = drawInputs(op, opCase, quickRandom(1, op.id));
  const call = { bytesPerElement: 4, indices, scalars: resolveScalars(op, opCase.scalars) };
  const forward = op.cost(dims, call);
  // Every output is written once, unless it is memory that was there before.
  const written = Object.values(op.outputs).filter(({ inPlaceOf }) => inPlaceOf === undefined);
  const sizes = written.map((operand) => shapeOf(operand, dims).reduce((a, b) => a * b, 4));
  expect(forward.bytes).toBeGreaterThanOrEqual(sizes.reduce((a, b) => a + b, 1));
  const backward = op.backwardCost?.(dims, call);
  if (backward !== undefined) expect(backward.bytes).toBeGreaterThanOrEqual(sizes[0] ?? 0);
  // Half the storage never moves more.
  expect(op.cost(dims, { ...call, bytesPerElement: 2 }).bytes).toBeLessThanOrEqual(forward.bytes);
});
