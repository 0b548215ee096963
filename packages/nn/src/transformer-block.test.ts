import { MissingError, randomAt, sizeOf } from '@saccade/core';
import { type Device, openDevice, referenceBackend } from '@saccade/ops';
import { attention, linearLogprob, scope, Tape, type Tensor, tensor } from '@saccade/tensor';
import { afterAll, describe, expect, it } from 'vitest';
import { expectClose, readGolden } from './golden.fixture.ts';
import type { Parameters } from './parameters.ts';
import { mropeTable, rotaryTable } from './rotary-tables.ts';
import {
  type BlockNames,
  type BlockShape,
  blockSpecs,
  decoderNames,
  transformerBlock,
} from './transformer-block.ts';

const device: Device = openDevice(referenceBackend());
afterAll(() => device.dispose());

describe('transformerBlock', () => {
  it("gives transformers' decoder layer and torch's gradients, with M-RoPE", async () => {
    const golden = await readGolden('decoder-layer');
    const shape = { hidden: 32, heads: 4, kvHeads: 2, headDim: 8, intermediate: 24, eps: 1e-6 };
    const parameters = golden.tensors(device, 'layer.');
    const names = Object.keys(parameters);
    const table = mropeTable(golden.integers('positions'), 8, [1, 1, 2], 1000);
    expectClose('cos', table.cos, golden.floats('cos'), 1e-7);
    expectClose('sin', table.sin, golden.floats('sin'), 1e-7);
    const x = golden.tensor(device, 'x');
    const tape = new Tape([x, ...names.map((name) => parameters[name] as Tensor)]);
    const y = tape.run(() => {
      const cos = tensor(device, 'f32', [10, 4], table.cos);
      const sin = tensor(device, 'f32', [10, 4], table.sin);
      const segments = tensor(device, 'i32', [1, 3], [0, 10, -1]);
      return transformerBlock(parameters, 'layer', decoderNames, shape, x, cos, sin, (q, k, v) =>
        attention(q, k, v, segments, { isCausal: true }),
      );
    });
    expectClose('y', await y.read(), golden.floats('y'), 2e-6);
    const gradients = tape.backward([[y, golden.tensor(device, 'seed')]]);
    tape.dispose();
    for (const [i, name] of ['x', ...names].entries()) {
      const values = await (gradients[i] as Tensor).read();
      expectClose(name, values, golden.floats(`grad.${name}`), 1e-5);
    }
  });

  it("gives transformers' layer with normalized q and k, and interleaved M-RoPE", async () => {
    const golden = await readGolden('normalized-layer');
    const shape = { hidden: 24, heads: 4, kvHeads: 2, headDim: 12, intermediate: 20, eps: 1e-6 };
    const names: BlockNames = {
      ...decoderNames,
      hasQkvBias: false,
      qkNorm: { query: 'self_attn.q_norm', key: 'self_attn.k_norm', of: 'head' },
    };
    const parameters = golden.tensors(device, 'layer.');
    const keys = Object.keys(parameters);
    expect(blockSpecs('layer', names, shape).map(({ name }) => name).sort()).toEqual(keys.sort());
    const table = mropeTable(golden.integers('positions'), 12, [3, 2, 1], 1000, {
      isInterleaved: true,
    });
    expectClose('cos', table.cos, golden.floats('cos'), 1e-7);
    expectClose('sin', table.sin, golden.floats('sin'), 1e-7);
    const x = golden.tensor(device, 'x');
    const tape = new Tape([x, ...keys.map((name) => parameters[name] as Tensor)]);
    const y = tape.run(() => {
      const cos = tensor(device, 'f32', [6, 6], table.cos);
      const sin = tensor(device, 'f32', [6, 6], table.sin);
      const segments = tensor(device, 'i32', [1, 3], [0, 6, -1]);
      return transformerBlock(parameters, 'layer', names, shape, x, cos, sin, (q, k, v) =>
        attention(q, k, v, segments, { isCausal: true }),
      );
    });
    expectClose('y', await y.read(), golden.floats('y'), 2e-6);
    const gradients = tape.backward([[y, golden.tensor(device, 'seed')]]);
    tape.dispose();
    for (const [i, name] of ['x', ...keys].entries()) {
      const values = await (gradients[i] as Tensor).read();
      expectClose(name, values, golden.floats(`grad.${name}`), 1e-5);
    }
  });

  it('names the weight that is missing', () => {
    const x = tensor(device, 'f32', [1, 8], new Float32Array(8));
    expect(() => transformerBlock({}, 'layer', decoderNames, tiny, x, x, x, (q) => q)).toThrow(
      MissingError,
    );
  });
});

const tiny: BlockShape = {
  hidden: 8,
  heads: 2,
  kvHeads: 1,
  headDim: 4,
  intermediate: 6,
  eps: 1e-6,
};
const VOCABULARY = 7;

/** Two layers and an LM head in float64, every value a random normal. */
function tinyParameters(): Record<string, Tensor> {
  const specs = [0, 1].flatMap((layer) => blockSpecs(`layers.${layer}`, decoderNames, tiny));
  const head = { name: 'head', shape: [VOCABULARY, tiny.hidden] };
  return Object.fromEntries(
    [...specs, head].map(({ name, shape }) => {
      const random = randomAt(11, name);
      const values = Float64Array.from({ length: sizeOf(shape) }, () => 0.5 * random.normal());
      return [name, tensor(device, 'f64', shape, values)];
    }),
  );
}

/** A packed batch: rows of x by token, so that equal tokens have equal inputs. */
interface Packed {
  readonly tokens: readonly number[];
  readonly positions: readonly number[];
  /** start, end, parent of each segment. */
  readonly segments: readonly number[];
  readonly targets: readonly number[];
}

function logprobs(parameters: Parameters, packed: Packed): Tensor {
  const { tokens, positions, segments, targets } = packed;
  const count = tokens.length;
  const rows = tokens.flatMap((token) => {
    const random = randomAt(12, 'token', token);
    return Array.from({ length: tiny.hidden }, () => random.normal());
  });
  let x = tensor(device, 'f64', [count, tiny.hidden], rows);
  const table = rotaryTable(Int32Array.from(positions), tiny.headDim, 100);
  const cos = tensor(device, 'f64', [count, tiny.headDim / 2], table.cos);
  const sin = tensor(device, 'f64', [count, tiny.headDim / 2], table.sin);
  const plan = tensor(device, 'i32', [segments.length / 3, 3], segments);
  for (const layer of ['layers.0', 'layers.1']) {
    x = transformerBlock(parameters, layer, decoderNames, tiny, x, cos, sin, (q, k, v) =>
      attention(q, k, v, plan, { isCausal: true }),
    );
  }
  const ids = tensor(device, 'i32', [count], targets);
  return linearLogprob(x, parameters.head as Tensor, ids, 0.8).logprobs;
}

/** A prefix of three tokens, then responses of two and one; the prefix's last token predicts both. */
const shared: Packed = {
  tokens: [1, 2, 3, 4, 5, 6],
  positions: [0, 1, 2, 3, 4, 3],
  segments: [0, 3, -1, 3, 5, 0, 5, 6, 0],
  targets: [2, 3, -1, 5, 0, 1],
};
/** The same without sharing: the prefix, and the prefix again before each response. */
const repeated: Packed = {
  tokens: [1, 2, 3, 1, 2, 3, 4, 5, 1, 2, 3, 6],
  positions: [0, 1, 2, 0, 1, 2, 3, 4, 0, 1, 2, 3],
  segments: [0, 3, -1, 3, 8, -1, 8, 12, -1],
  targets: [2, 3, -1, -1, -1, -1, 5, 0, -1, -1, -1, 1],
};

async function gradientsOf(packed: Packed, seedByTarget: (row: number) => number) {
  const parameters = tinyParameters();
  const names = Object.keys(parameters);
  const tape = new Tape(Object.values(parameters));
  const output = tape.run(() => logprobs(parameters, packed));
  const values = [...(await output.read())].filter((_, i) => packed.targets[i] !== -1);
  const seed = packed.targets.map((_, row) => seedByTarget(row));
  const seedTensor = tensor(device, 'f64', [seed.length], seed);
  const gradients = tape.backward([[output, seedTensor]]);
  tape.dispose();
  const byName = new Map<string, ArrayLike<number>>();
  for (const [i, name] of names.entries()) byName.set(name, await (gradients[i] as Tensor).read());
  return { values, byName };
}

describe('two blocks and a log-prob head', () => {
  it('have the gradients that central differences give', async () => {
    const parameters = tinyParameters();
    const seed = [0.5, -1, 9, 0.7, 1.3, -0.4];
    const total = async () => {
      const output = scope(() => logprobs(parameters, shared));
      const values = await output.read();
      output.dispose();
      return seed.reduce((sum, weight, i) => sum + weight * (values[i] as number), 0);
    };
    const { byName } = await gradientsOf(shared, (row) => seed[row] as number);
    const h = 1e-5;
    for (const [name, weight] of Object.entries(parameters)) {
      const original = Float64Array.from(await weight.read());
      const at = randomAt(13, name).integer(original.length);
      const moved = async (delta: number) => {
        weight.write(original.map((value, i) => (i === at ? value + delta : value)));
        return total();
      };
      const numeric = ((await moved(h)) - (await moved(-h))) / (2 * h);
      weight.write(original);
      expect(byName.get(name)?.[at], `${name}[${at}]`).toBeCloseTo(numeric, 6);
    }
  });

  it('give the same log-probs and gradients for a shared as for a repeated prefix', async () => {
    const rows = shared.targets.flatMap((target, row) => (target === -1 ? [] : [row]));
    const repeatedRows = repeated.targets.flatMap((target, row) => (target === -1 ? [] : [row]));
    const one = await gradientsOf(shared, (row) => 1 + rows.indexOf(row));
    const other = await gradientsOf(repeated, (row) => 1 + repeatedRows.indexOf(row));
    expect(one.values).toEqual(other.values);
    for (const [name, values] of one.byName) {
      expectClose(name, values, other.byName.get(name) ?? [], 1e-12);
    }
  });

  it('hold the same memory after each step, in training and scoring', () => {
    const parameters = tinyParameters();
    const seed = tensor(device, 'f64', [6], [1, 1, 1, 1, 1, 1]);
    const bytes = new Set<number>();
    for (let step = 0; step < 4; step++) {
      const tape = new Tape(Object.values(parameters));
      const output = tape.run(() => logprobs(parameters, shared));
      for (const gradient of tape.backward([[output, seed]])) gradient?.dispose();
      tape.dispose();
      scope(() => logprobs(parameters, shared)).dispose();
      bytes.add(device.allocatedBytes());
    }
    expect(bytes.size).toBe(1);
  });
});
