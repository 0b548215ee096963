import { randomAt } from '@saccade/core';
import type { Values } from '@saccade/ops';
import { expect, it } from 'vitest';
import { attention, mergeStates } from './ops/catalog.ts';
import { planVarlen } from './segments.ts';

const [n, H, G, D] = [5, 4, 2, 3];
const random = randomAt(1, 'merge-states');
const draw = (length: number): Float64Array => Float64Array.from({ length }, () => random.normal());

function expectClose(got: ArrayLike<number>, expected: ArrayLike<number>): void {
  expect(got.length).toBe(expected.length);
  for (let i = 0; i < expected.length; i++) expect(got[i]).toBeCloseTo(expected[i], 12);
}

const join = (a: Values[string], b: Values[string]): Float64Array => Float64Array.of(...a, ...b);

/** The rows of lse [H, T] for the first of two halves of the tokens. */
const firstHalf = (lse: Values[string]): number[] =>
  Array.from({ length: H * n }, (_, i) => lse[Math.floor(i / n) * 2 * n + (i % n)]);

it('gives attention over half the keys each the outputs and gradients of attention over all', () => {
  const scalars = { scale: 0, causal: 0, window: 0 };
  const q = draw(n * H * D);
  const [k1, k2, v1, v2] = [0, 0, 0, 0].map(() => draw(n * G * D));
  const [dOut, dLse] = [draw(n * H * D), draw(H * n)];

  // The queries of the second half are not looked at.
  const dims = { T: 2 * n, H, G, D, S: 1, P: 3 };
  const whole = {
    q: join(q, draw(n * H * D)),
    k: join(k1, k2),
    v: join(v1, v2),
    segments: planVarlen([2 * n]).segments,
  };
  const one = attention.forward(whole, dims, scalars);
  const wholeLse = new Float64Array(2 * H * n);
  dLse.forEach((value, i) => {
    wholeLse[Math.floor(i / n) * 2 * n + (i % n)] = value;
  });
  const upstream = { out: join(dOut, new Float64Array(n * H * D)), lse: wholeLse };
  const expected = attention.backward?.(upstream, { ...whole, ...one }, dims, scalars) ?? {};

  const half = { T: n, H, G, D, S: 1, P: 3 };
  const segments = planVarlen([n]).segments;
  const [first, second] = [
    { q, k: k1, v: v1, segments },
    { q, k: k2, v: v2, segments },
  ];
  const a = attention.forward(first, half, scalars);
  const b = attention.forward(second, half, scalars);
  const states = { a: a.out, aLse: a.lse, b: b.out, bLse: b.lse };
  const merged = mergeStates.forward(states, { T: n, H, D }, {});
  expectClose(merged.out, one.out.subarray(0, n * H * D));
  expectClose(merged.lse, firstHalf(one.lse));

  const parts =
    mergeStates.backward?.(
      { out: dOut, lse: dLse },
      { ...states, ...merged },
      { T: n, H, D },
      {},
    ) ?? {};
  const da = attention.backward?.(
    { out: parts.a, lse: parts.aLse },
    { ...first, ...a },
    half,
    scalars,
  );
  const db = attention.backward?.(
    { out: parts.b, lse: parts.bLse },
    { ...second, ...b },
    half,
    scalars,
  );
  if (da === undefined || db === undefined) throw new Error('attention has no backward');
  expectClose(
    da.q.map((value, i) => value + db.q[i]),
    expected.q.subarray(0, n * H * D),
  );
  expectClose(join(da.k, db.k), expected.k);
  expectClose(join(da.v, db.v), expected.v);
});

it('gives what saw nothing no share', () => {
  const nothing = Number.NEGATIVE_INFINITY;
  const states = {
    a: Float64Array.of(0, 0),
    aLse: Float64Array.of(nothing, nothing),
    b: Float64Array.of(3, 0),
    bLse: Float64Array.of(0.5, nothing),
  };
  const { out, lse } = mergeStates.forward(states, { T: 2, H: 1, D: 1 }, {});
  expect([...out]).toEqual([3, 0]);
  expect([...lse]).toEqual([0.5, nothing]);
});
