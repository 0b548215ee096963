import { randomAt } from '@saccade/core';
import { type Dims, openDevice, referenceBackend, resolveScalars, type Values } from '@saccade/ops';
import { ContractError, drawNormals } from '@saccade/ops/contract';
import { afterAll, describe, expect, it } from 'vitest';
import { checkDecodeMatchesAttention } from './contract.ts';
import { attention, attentionDecode } from './ops/catalog.ts';
import { planSharedPrefix, planVarlen, type SegmentPlan } from './segments.ts';

function ramp(length: number, a: number, b: number): Float64Array {
  return Float64Array.from({ length }, (_, i) => Math.sin(a * i + b));
}

function run(dims: Dims, inputs: Values, dOut: Float64Array, scalars = {}) {
  const resolved = resolveScalars(attention, scalars);
  const outputs = attention.forward(inputs, dims, resolved);
  const saved = { ...inputs, ...outputs };
  const upstream = { out: dOut, lse: new Float64Array(dims.H * dims.T) };
  return { out: outputs.out, d: attention.backward?.(upstream, saved, dims, resolved) ?? {} };
}

function expectClose(got: ArrayLike<number>, expected: ArrayLike<number>, within = 1e-12): void {
  expect(got.length).toBe(expected.length);
  for (let i = 0; i < expected.length; i++) {
    expect(Math.abs(got[i] - expected[i])).toBeLessThan(within);
  }
}

// PyTorch 2.13, float64: scaled_dot_product_attention(is_causal, enable_gqa), inputs sin(a·i + b).
describe('attention agrees with PyTorch', () => {
  const dims = { T: 4, H: 4, G: 2, D: 2, S: 1, P: 3 };
  const inputs = {
    q: ramp(32, 1.3, 0.2),
    k: ramp(16, 0.7, 1.1),
    v: ramp(16, 2.1, 0.5),
    segments: planVarlen([4]).segments,
  };
  const { out, d } = run(dims, inputs, ramp(32, 0.4, 0.9));

  it('for causal attention with two query heads per key head', () => {
    expectClose(
      out,
      [
        0.479425538604, 0.515501371821, 0.479425538604, 0.515501371821, -0.999923257564,
        0.494113351139, -0.999923257564, 0.494113351139, 0.498187257149, -0.801137107063,
        0.482087799312, 0.328672277203, -0.153024515262, 0.489782445694, -0.125164766669,
        0.489639975371, 0.00758435952104, 0.133119805772, 0.174818558993, -0.443802411172,
        0.00128520467749, -0.340321677575, 0.0713029073635, 0.248823535546, -0.0655470238254,
        0.351460608061, 0.23989938491, 0.0531222032427, -0.27200968642, 0.319261503372,
        -0.121795027752, -0.223584396175,
      ],
      1e-11,
    );
  });

  it('for a sliding window, as a mask', () => {
    const windowed = run(dims, inputs, ramp(32, 0.4, 0.9), { window: 1 });
    expectClose(windowed.out.subarray(0, 16), out.subarray(0, 16));
    expectClose(
      windowed.out.subarray(16),
      [
        -0.338866549393, -0.147645093482, 0.120750592634, -0.614079549053, 0.478155909174,
        -0.737759009565, 0.500293314626, 0.150593132543, -0.60976696022, 0.506238446343,
        -0.0127358131875, 0.480478854016, -0.61437641027, 0.146256977077, 0.248164189354,
        -0.763553953777,
      ],
      1e-11,
    );
  });

  it('for its gradients', () => {
    expectClose(
      d.q.subarray(8),
      [
        -0.186304722472, -0.232151923252, -0.149644566194, -0.186470173086, 0.206598756461,
        0.0319183654794, -0.0788863281953, -0.0121875015019, 0.250785002025, 0.255399012905,
        0.117598113538, 0.116875087106, -0.0205534038402, 0.0323534330207, 0.177939789666,
        0.0723816744794, -0.128062519613, -0.0410576029781, -0.102441794135, -0.00933190411778,
        -0.00615832746816, -0.0558621914573, -0.140143940178, -0.0941008097694,
      ],
      1e-11,
    );
    expectClose(d.q.subarray(0, 8), new Float64Array(8));
    expectClose(
      d.k,
      [
        0.092746035989, -0.22626403654, -0.0689477048785, -0.252740093492, -0.0409391786957,
        0.049835156946, 0.202484446686, 0.305309247596, 0.0182457948301, 0.140659737649,
        -0.0760462917013, -0.0733666377184, -0.0700526521233, 0.0357691419456, -0.0574904501066,
        0.0207974836144,
      ],
      1e-11,
    );
    expectClose(
      d.v,
      [
        0.769993443848, 0.959330913918, 0.411053280638, -0.0620166021972, -0.373674153278,
        -0.523023558071, -0.398769235916, -0.0470682595546, -0.0172591796363, -0.0187638304367,
        0.33593128227, 0.283633537463, -0.418186692942, -0.371338023958, -0.135967226891,
        0.0337734121702,
      ],
      1e-11,
    );
  });
});

/** Rows of one packed problem in the order that another has them. */
function pick(values: Values[string], rows: readonly number[], width: number): Float64Array {
  return Float64Array.from(
    rows.flatMap((row) => [...values.subarray(row * width, (row + 1) * width)]),
  );
}

describe('a shared prefix', () => {
  const lengths = [3, 1, 2];
  const P = 5;
  const shared = planSharedPrefix({ prefixLength: P, responseLengths: lengths });
  const repeated = planVarlen(lengths.map((length) => P + length));
  /** For each repeated token, the shared token it is a copy of. */
  const origin: number[] = [];
  lengths.forEach((length, member) => {
    const { segments } = shared;
    for (let t = 0; t < P; t++) origin.push(t);
    for (let t = 0; t < length; t++) origin.push(segments[3 * (member + 1)] + t);
  });
  const [H, G, D] = [4, 2, 3];
  const dimsOf = (plan: SegmentPlan): Dims => ({
    T: plan.tokenCount,
    H,
    G,
    D,
    S: plan.segmentCount,
    P: 3,
  });
  const random = randomAt(1, 'shared-prefix');
  const drawn = (name: 'q' | 'k' | 'v') =>
    drawNormals(attention.inputs[name], dimsOf(shared), random);
  const [q, k, v] = [drawn('q'), drawn('k'), drawn('v')];
  const sharedInputs = { q, k, v, segments: shared.segments };
  const repeatedInputs = {
    q: pick(q, origin, H * D),
    k: pick(k, origin, G * D),
    v: pick(v, origin, G * D),
    segments: repeated.segments,
  };
  // Each repeated row has its own gradient; the shared prefix row receives their sum.
  const dRepeated = drawNormals(attention.outputs.out, dimsOf(repeated), random);
  const dShared = sumBack(dRepeated, H * D);
  const one = run(dimsOf(shared), sharedInputs, dShared);
  const many = run(dimsOf(repeated), repeatedInputs, dRepeated);

  function sumBack(values: Values[string], width: number): Float64Array {
    const sums = new Float64Array(shared.tokenCount * width);
    origin.forEach((token, row) => {
      for (let i = 0; i < width; i++) sums[token * width + i] += values[row * width + i];
    });
    return sums;
  }

  it('gives every response the outputs of the repeated prefix', () => {
    expectClose(many.out, pick(one.out, origin, H * D));
  });

  it('collects in its gradients the sum over the members of the group', () => {
    expectClose(one.d.q, sumBack(many.d.q, H * D));
    expectClose(one.d.k, sumBack(many.d.k, G * D));
    expectClose(one.d.v, sumBack(many.d.v, G * D));
  });
});

describe('attention', () => {
  it('gives packed sequences the outputs and gradients they have alone', () => {
    const lengths = [4, 1, 6];
    const plan = planVarlen(lengths);
    const dims = { T: 11, H: 2, G: 1, D: 3, S: 3, P: 3 };
    const random = randomAt(2, 'packed');
    const [q, k, v] = (['q', 'k', 'v'] as const).map((name) =>
      drawNormals(attention.inputs[name], dims, random),
    );
    const dOut = drawNormals(attention.outputs.out, dims, random);
    const packed = run(dims, { q, k, v, segments: plan.segments }, dOut, { causal: 0 });
    let start = 0;
    for (const length of lengths) {
      const rows = Array.from({ length }, (_, i) => start + i);
      const inputs = { q: pick(q, rows, 6), k: pick(k, rows, 3), v: pick(v, rows, 3) };
      const segments = planVarlen([length]).segments;
      const own = { ...dims, T: length, S: 1 };
      const alone = run(own, { ...inputs, segments }, pick(dOut, rows, 6), { causal: 0 });
      expectClose(alone.out, pick(packed.out, rows, 6));
      expectClose(alone.d.q, pick(packed.d.q, rows, 6));
      expectClose(alone.d.k, pick(packed.d.k, rows, 3));
      expectClose(alone.d.v, pick(packed.d.v, rows, 3));
      start += length;
    }
  });

  it('permutes its sequences when they are packed in another order', () => {
    const dims = { T: 5, H: 1, G: 1, D: 2, S: 2, P: 3 };
    const [q, k, v] = [ramp(10, 1, 0), ramp(10, 2, 1), ramp(10, 3, 2)];
    const order = [2, 3, 4, 0, 1];
    const dOut = new Float64Array(10);
    const here = run(dims, { q, k, v, segments: planVarlen([2, 3]).segments }, dOut);
    const swapped = { q: pick(q, order, 2), k: pick(k, order, 2), v: pick(v, order, 2) };
    const there = run(dims, { ...swapped, segments: planVarlen([3, 2]).segments }, dOut);
    expect([...there.out]).toEqual([...pick(here.out, order, 2)]);
  });

  it('gives the first token of a sequence its own value', () => {
    const dims = { T: 3, H: 1, G: 1, D: 2, S: 1, P: 3 };
    const v = ramp(6, 2, 1);
    const inputs = { q: ramp(6, 1, 0), k: ramp(6, 3, 0), v, segments: planVarlen([3]).segments };
    expectClose(run(dims, inputs, new Float64Array(6)).out.subarray(0, 2), v.subarray(0, 2));
  });

  it('keeps grouped heads equal to heads with repeated keys', () => {
    const dims = { T: 6, H: 6, G: 2, D: 2, S: 1, P: 3 };
    const segments = planVarlen([6]).segments;
    const [q, k, v] = [ramp(72, 1, 0), ramp(24, 2, 1), ramp(24, 3, 2)];
    const repeat = (values: Float64Array) =>
      pick(
        values,
        Array.from({ length: 36 }, (_, i) => 2 * Math.floor(i / 6) + (i % 6 < 3 ? 0 : 1)),
        2,
      );
    const dOut = new Float64Array(72);
    const grouped = run(dims, { q, k, v, segments }, dOut);
    const full = run({ ...dims, G: 6 }, { q, k: repeat(k), v: repeat(v), segments }, dOut);
    expect([...grouped.out]).toEqual([...full.out]);
  });

  it('refuses head counts that do not divide, on a device', () => {
    const device = openDevice(referenceBackend());
    const q = device.upload('f32', [1, 7, 2], new Float32Array(14));
    const k = device.upload('f32', [1, 2, 2], new Float32Array(4));
    const segments = device.upload('i32', [1, 3], [0, 1, -1]);
    expect(() => device.forward(attention, { q, k, v: k, segments })).toThrow(
      "attention: k has 2 heads, q has 7; q's heads must be a multiple of k's. " +
        'Reshape k and v to a divisor of the heads of q.',
    );
    device.dispose();
  });
});

describe('attentionDecode', () => {
  const device = openDevice(referenceBackend());
  afterAll(() => device.dispose());

  it('gives the bits of attention for every token of a forest', async () => {
    for (let seed = 0; seed < 4; seed++) {
      await checkDecodeMatchesAttention(device, { T: 70, S: 6, H: 4, G: 2, D: 8 }, seed);
    }
    expect(device.allocatedBytes()).toBe(0);
  });

  it('is found out by the contract when it reads in another order', async () => {
    const backend = referenceBackend();
    const dispatch = backend.dispatch.bind(backend);
    backend.dispatch = (launch) =>
      dispatch(
        launch.op.id === 'attentionDecode' ? { ...launch, scalars: { scale: 0.35 } } : launch,
      );
    const other = openDevice(backend);
    await expect(
      checkDecodeMatchesAttention(other, { T: 9, S: 2, H: 1, G: 1, D: 8 }, 1),
    ).rejects.toThrow(ContractError);
    other.dispose();
  });

  it('gives 0 to a row that sees nothing', () => {
    const inputs = {
      q: ramp(4, 1, 1),
      kCache: ramp(2, 1, 1),
      vCache: Float64Array.of(3, 4),
      spans: Int32Array.of(0, 1),
      spanOffsets: Int32Array.of(0, 0, 1),
    };
    const dims = { N: 2, H: 1, G: 1, D: 2, C: 1, R: 1, U2: 2, O: 3 };
    const { out } = attentionDecode.forward(inputs, dims, { scale: 0 });
    expect([...out]).toEqual([0, 0, 3, 4]);
  });
});
