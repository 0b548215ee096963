import { describe, expect, it } from 'vitest';
import { type Dims, type Op, resolveScalars, type Scalars, type Values } from './op.ts';
import {
  adamwStep,
  embedding,
  gelu,
  gemm,
  gradNorm,
  layerNorm,
  rmsNorm,
  rotary,
} from './ops/catalog.ts';

/** Irregular numbers that the generating script writes in the same way: sin(a·i + b). */
function ramp(length: number, a: number, b: number): Float64Array {
  return Float64Array.from({ length }, (_, i) => Math.sin(a * i + b));
}

function run(op: Op, dims: Dims, inputs: Values, gradOutputs: Values, scalars?: Scalars) {
  const resolved = resolveScalars(op, scalars);
  const outputs = op.forward(inputs, dims, resolved);
  return {
    outputs,
    gradients: op.backward?.(gradOutputs, { ...inputs, ...outputs }, dims, resolved) ?? {},
  };
}

function expectClose(got: ArrayLike<number> | undefined, expected: readonly number[]): void {
  expect(got?.length).toBe(expected.length);
  expected.forEach((value, i) => {
    expect(Math.abs((got?.[i] ?? NaN) - value)).toBeLessThan(1e-11 * Math.max(1, Math.abs(value)));
  });
}

// All numbers below: PyTorch 2.13 in float64, the function named in the test, 12 digits.
describe('the oracles agree with PyTorch', () => {
  it('gemm: torch.nn.functional.linear', () => {
    const inputs = { x: ramp(6, 1.7, 0.3), w: ramp(12, 0.9, 1), b: ramp(4, 0.3, 0.2) };
    const { outputs, gradients } = run(gemm, { M: 2, K: 3, N: 4 }, inputs, {
      y: ramp(8, 2.3, 0.1),
    });
    expectClose(
      outputs.y,
      [
        1.13032041614, -0.206891656562, 1.02666551903, 1.01824848075, 0.43417423146,
        -0.248188551283, 1.79748244785, -0.334202848399,
      ],
    );
    expectClose(
      gradients.x,
      [-0.18077479433, -1.7845152502, -2.03777014178, 0.503226732898, 2.01904691279, 2.0068926419],
    );
    expectClose(
      gradients.w,
      [
        -0.0666711668863, 0.181501690512, 0.0199001798308, 0.835465736246, 0.0143803609282,
        -0.839171396909, -1.04663040644, -0.200664269839, 1.09833937918, 0.559223749656,
        0.253015221715, -0.624422986238,
      ],
    );
    expectClose(gradients.b, [0.224287840154, -0.147365414418, -0.0279157561691, 0.18456461232]);
  });

  it('rmsNorm: torch.nn.functional.rms_norm', () => {
    const inputs = { x: ramp(8, 1.7, 0.3), w: ramp(4, 0.9, 1) };
    const { outputs, gradients } = run(rmsNorm, { N: 2, D: 4 }, inputs, { y: ramp(8, 2.3, 0.1) });
    expectClose(
      outputs.y,
      [
        0.371519272191, 1.2855526338, -0.265171010422, 0.61170742872, 0.92064220433, 0.830741522566,
        -0.442287427313, 0.284869079648,
      ],
    );
    expectClose(
      gradients.x,
      [
        -0.133802207138, 0.157080549635, -0.0355241808396, 0.158017314016, 0.6224882661,
        -0.795280410201, -0.0728216018279, 0.147014493108,
      ],
    );
    expectClose(gradients.w, [0.180241548226, 0.19527166213, -0.491826461596, -0.504505347779]);
  });

  it('layerNorm: torch.nn.functional.layer_norm', () => {
    const inputs = { x: ramp(8, 1.7, 0.3), w: ramp(4, 0.9, 1), b: ramp(4, 0.3, 0.2) };
    const { outputs, gradients } = run(layerNorm, { N: 2, D: 4 }, inputs, { y: ramp(8, 2.3, 0.1) });
    expectClose(
      outputs.y,
      [
        0.601185574062, 1.8004072798, 0.46425330833, 1.48395344367, 1.09568330647, 1.28351418993,
        0.265341798565, 1.19129666967,
      ],
    );
    expectClose(
      gradients.x,
      [
        -0.170988877088, 0.118873082172, -0.0710163441149, 0.123132139031, 0.646635792329,
        -0.771540771788, -0.0472304777126, 0.172135457172,
      ],
    );
    expectClose(gradients.w, [0.180424437423, 0.243735994697, -0.556073174396, -0.46742271149]);
    expectClose(gradients.b, [0.224287840154, -0.147365414418, -0.0279157561691, 0.18456461232]);
  });

  it('gelu: torch.nn.functional.gelu', () => {
    const x = Float64Array.of(-6.5, -3, -1, -0.1, 0, 0.5, 2, 7);
    const { outputs, gradients } = run(
      gelu,
      { N: 1, D: 8 },
      { x },
      {
        y: new Float64Array(8).fill(1),
      },
    );
    expectClose(
      outputs.y,
      [
        -2.61039911909e-10, -0.00404969409489, -0.158655253931, -0.0460172162723, 0, 0.345731230637,
        1.9544997361, 6.99999999999,
      ],
    );
    expectClose(
      gradients.x,
      [
        -1.69505181315e-9, -0.0119456472042, -0.0833154705877, 0.420476907975, 0.5, 0.867495124656,
        1.08523180108, 1.00000000006,
      ],
    );
  });

  it('gelu with tanh: torch.nn.functional.gelu, approximate="tanh"', () => {
    const x = Float64Array.of(-6.5, -3, -1, -0.1, 0, 0.5, 2, 7);
    const ones = { y: new Float64Array(8).fill(1) };
    const { outputs, gradients } = run(gelu, { N: 1, D: 8 }, { x }, ones, { tanh: 1 });
    expectClose(
      outputs.y,
      [
        -6.27831120426e-13, -0.00363739208177, -0.158808009392, -0.0460172489546, 0, 0.345714009825,
        1.95459769409, 7,
      ],
    );
    expectClose(
      gradients.x,
      [
        -6.58352874837e-12, -0.011584166631, -0.0829640838458, 0.420478210728, 0.5, 0.867369903535,
        1.08609925662, 1,
      ],
    );
  });

  it('rotary: apply_rotary_pos_emb of transformers 5.18', () => {
    const angles = [0.3, 1.2, 2, -0.7];
    const inputs = {
      x: ramp(8, 1.7, 0.3),
      cos: Float64Array.from(angles, Math.cos),
      sin: Float64Array.from(angles, Math.sin),
    };
    expectClose(
      rotary.forward(inputs, { T: 2, H: 1, D: 4, E: 2 }, {}).y,
      [
        0.438898522555, 1.04973768039, -0.418839606122, 0.567483538121, 0.496546930943,
        0.216591705488, 1.02893228006, -0.650802869006,
      ],
    );
  });

  it('adamwStep and gradNorm: torch.optim.AdamW after clip_grad_norm_, four steps', () => {
    // Two parameters of 3 and 1 elements; lr 0.01, betas (0.9, 0.95), weight decay 0.1, clip 1.5.
    const expected = [
      [0.489500000192, -1.00899999991, 1.98800000015, 0.239750000164],
      [0.479010988619, -1.01761877884, 1.98883093912, 0.229507099795],
      [0.469085512224, -1.01932735186, 1.98646820321, 0.220146213341],
      [0.459289298806, -1.01689916254, 1.98116131735, 0.216332930854],
    ];
    const norms = [4.132725456258272, 4.147231993657591, 1.9163059226600239, 4.324113885054813];
    let states: Values[] = [[0.5, -1, 2], [0.25]].map((values) => ({
      param: Float64Array.from(values),
      m: new Float64Array(values.length),
      v: new Float64Array(values.length),
    }));
    for (let step = 1; step <= 4; step++) {
      const grads = [ramp(3, step, 0.5).map((g) => 3 * g), ramp(1, 1, step).map((g) => 2 * g)];
      let sum: Values[string] = Float64Array.of(0);
      for (const grad of grads) {
        sum = gradNorm.forward({ grad, sum }, { N: grad.length, U: 1 }, {}).total;
      }
      expectClose([Math.sqrt(sum[0])], [norms[step - 1]]);
      const scalars = resolveScalars(adamwStep, {
        learningRate: 0.01,
        beta2: 0.95,
        weightDecay: 0.1,
        maxNorm: 1.5,
        step,
      });
      states = states.map((state, i) => {
        const inputs: Values = { ...state, grad: grads[i], sumSquares: sum };
        return adamwStep.forward(inputs, { N: grads[i].length, U: 1 }, scalars);
      });
      expectClose([...states[0].param, ...states[1].param], expected[step - 1]);
    }
    expectClose(states[0].m, [0.231409153413, -0.0440856726695, 0.0901517374778]);
    expectClose(states[0].v, [0.096545073983, 0.153575866218, 0.115618595649]);
  });
});

describe('embedding', () => {
  it('takes ids from V on out of the extra rows and returns their gradients there', () => {
    const inputs = {
      table: Float64Array.of(1, 2),
      extra: Float64Array.of(10, 20, 30),
      ids: Int32Array.of(1, 4, 2, 4),
    };
    const dims = { V: 2, D: 1, E: 3, N: 4 };
    const { outputs, gradients } = run(embedding, dims, inputs, { y: Float64Array.of(1, 2, 4, 8) });
    expect([...outputs.y]).toEqual([2, 30, 10, 30]);
    expect([...gradients.table]).toEqual([0, 1]);
    expect([...gradients.extra]).toEqual([4, 0, 10]);
  });
});

describe('rmsNorm', () => {
  it('does not change when a row is scaled', () => {
    const x = ramp(6, 1.7, 0.3);
    const inputs = { x, w: ramp(3, 1, 1) };
    const y = rmsNorm.forward(inputs, { N: 2, D: 3 }, { eps: 0 }).y;
    const scaled = { ...inputs, x: x.map((value) => 1000 * value) };
    expectClose(rmsNorm.forward(scaled, { N: 2, D: 3 }, { eps: 0 }).y, [...y]);
  });
});
