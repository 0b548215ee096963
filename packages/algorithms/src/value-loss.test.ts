import { describe, expect, it } from 'vitest';
import { numbers } from './step.fixture.ts';
import { clippedValueLoss } from './value-loss.ts';

const batch = {
  logprobs: new Float64Array(4),
  oldLogprobs: new Float64Array(4),
  advantages: new Float64Array(4),
  lossMask: new Float64Array(4),
  sequenceOffsets: Int32Array.of(0, 4),
  values: Float64Array.of(1, 1, 0.3, -1),
  oldValues: Float64Array.of(0, 0, 0, 0),
  returns: Float64Array.of(2, 0, 2, 0.4),
};

describe('the value loss', () => {
  it('takes the worse of the value and the clipped value, by hand', () => {
    // Clipped values 0.5, 0.5, 0.3, −0.5; errors −1 | −1.5, 1 | 0.5, −1.7 | same, −1.4 | −0.9.
    const { losses, grads, isClipped } = clippedValueLoss(batch, 0.5);
    expect(numbers(losses)).toEqual([1.125, 0.5, 1.445, 0.98]);
    expect(numbers(grads)).toEqual([0, 1, -1.7, -1.4]);
    expect([...isClipped]).toEqual([1, 0, 0, 0]);
  });

  it('without a clip is half the squared error', () => {
    expect(numbers(clippedValueLoss(batch, 0).losses)).toEqual([0.5, 0.5, 1.445, 0.98]);
  });
});
