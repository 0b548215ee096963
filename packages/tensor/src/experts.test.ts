/** The feed-forward layer of a mixture of experts, composed of its ops. */
import { ShapeError } from '@saccade/core';
import { openDevice, referenceBackend } from '@saccade/ops';
import { afterAll, describe, expect, it } from 'vitest';
import { expertLinear, gatherRows, linear, routeExperts, swiglu, weightedSum } from './fronts.ts';
import { scope, tensor } from './scope.ts';
import type { Tensor } from './tensor.ts';

const device = openDevice(referenceBackend());
afterAll(() => device.dispose());

const [T, D, E, K, I] = [5, 4, 3, 2, 2] as const;

/** Irregular numbers: sin(a·i + b). */
function ramp(shape: readonly number[], a: number, b: number): Tensor {
  const length = shape.reduce((product, n) => product * n, 1);
  const values = Float64Array.from({ length }, (_, i) => Math.sin(a * i + b));
  return tensor(device, 'f64', shape, values);
}

/** The sparse layer of Qwen3-MoE: its result, and the experts it took. */
function sparseMlp(given?: Tensor): { readonly y: Tensor; readonly experts: Tensor } {
  const x = ramp([T, D], 1.7, 0.3);
  const [gate, up] = [ramp([E, I, D], 1.3, 0.2), ramp([E, I, D], 0.7, 0.5)];
  const options = { topK: K, normalize: true, ...(given === undefined ? {} : { given }) };
  const { weights, experts } = routeExperts(linear(x, ramp([E, D], 0.9, 1)), options);
  const list = experts.reshape([T * K]);
  const tokens = Int32Array.from({ length: T * K }, (_, r) => Math.floor(r / K));
  const rows = gatherRows(x, tensor(device, 'i32', [T * K], tokens));
  const inner = swiglu(expertLinear(rows, list, gate), expertLinear(rows, list, up));
  const outer = expertLinear(inner, list, ramp([E, D, I], 1.1, 0.8));
  return { y: weightedSum(outer.reshape([T, K, D]), weights), experts };
}

describe('a mixture of experts', () => {
  it('gives the same bits with the experts of before, and others with others', async () => {
    const run = (experts?: Int32Array) =>
      scope(() => sparseMlp(experts && tensor(device, 'i32', [T, K], experts)));
    const first = run();
    const chosen = Int32Array.from(await first.experts.read());
    const again = run(chosen);
    expect([...(await again.y.read())]).toEqual([...(await first.y.read())]);
    const turned = chosen.map((expert) => (expert + 1) % E);
    const other = run(turned);
    expect([...(await other.experts.read())]).toEqual([...turned]);
    expect([...(await other.y.read())]).not.toEqual([...(await first.y.read())]);
  });

  it('prefers the lower of experts with equal logits', async () => {
    const logits = tensor(device, 'f64', [2, 4], [1, 2, 2, 1, 0, 0, 0, 0]);
    const { experts, weights } = routeExperts(logits, { topK: 3, normalize: false });
    expect([...(await experts.read())]).toEqual([1, 2, 0, 0, 1, 2]);
    expect([...(await weights.read())].slice(3)).toEqual([0.25, 0.25, 0.25]);
  });

  it('refuses experts of another number', () => {
    scope(() => {
      const logits = tensor(device, 'f64', [1, 3], [1, 2, 3]);
      const given = tensor(device, 'i32', [1, 3], [0, 1, 2]);
      expect(() => routeExperts(logits, { topK: 2, normalize: true, given })).toThrow(ShapeError);
      expect(() => routeExperts(logits, { topK: 4, normalize: true })).toThrow(
        /given has room for 4 experts a token, the logits are of 3/,
      );
    });
  });
});
