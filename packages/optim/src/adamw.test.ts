import { openDevice, referenceBackend } from '@saccade/ops';
import { tensor } from '@saccade/tensor';
import { afterAll, describe, expect, it } from 'vitest';
import { adamwInit, adamwUpdate } from './adamw.ts';
import { warmupCosine } from './schedules.ts';

const device = openDevice(referenceBackend());
afterAll(() => device.dispose());

describe('adamwUpdate', () => {
  // torch 2.13: AdamW(lr 0.1, betas (0.9, 0.98), weight_decay 0.01) on w = [1, -2, 3], b = [0.5] with
  // gradients 2w and 4b, clip_grad_norm_ to 1 before each of 5 steps.
  it('takes the steps that torch takes, clipping over all parameters together', async () => {
    const parameters = {
      w: tensor(device, 'f32', [3], [1, -2, 3]),
      b: tensor(device, 'f32', [1], [0.5]),
    };
    let state = adamwInit(parameters);
    const norms: number[] = [];
    for (let step = 0; step < 5; step++) {
      const w = await parameters.w.read();
      const b = await parameters.b.read();
      const gradients = {
        w: tensor(
          device,
          'f32',
          [3],
          Array.from(w, (x) => 2 * x),
        ),
        b: tensor(
          device,
          'f32',
          [1],
          Array.from(b, (x) => 4 * x),
        ),
      };
      const result = await adamwUpdate(parameters, gradients, state, {
        learningRate: 0.1,
        beta1: 0.9,
        beta2: 0.98,
        eps: 1e-8,
        weightDecay: 0.01,
        maxGradNorm: 1,
      });
      state = result.state;
      norms.push(result.gradNorm);
    }
    expect(state.step).toBe(5);
    const golden = {
      norms: [7.745967, 7.332561, 6.936718, 6.561445, 6.209532],
      w: [0.499265, -1.491036, 2.485438],
      b: 0.019028,
    };
    for (const [i, norm] of norms.entries()) expect(norm).toBeCloseTo(golden.norms[i] as number, 4);
    const w = await parameters.w.read();
    for (const [i, value] of golden.w.entries()) expect(w[i]).toBeCloseTo(value, 4);
    expect((await parameters.b.read())[0]).toBeCloseTo(golden.b, 4);
  });
});

describe('warmupCosine', () => {
  it('rises to the peak, then falls to its floor', () => {
    const rate = warmupCosine(1, 10, 110, 0.1);
    expect(rate(0)).toBeCloseTo(0.1);
    expect(rate(9)).toBeCloseTo(1);
    expect(rate(60)).toBeCloseTo(0.55);
    expect(rate(110)).toBeCloseTo(0.1);
    expect(rate(500)).toBeCloseTo(0.1);
  });
});
