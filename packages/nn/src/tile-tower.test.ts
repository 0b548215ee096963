import { ShapeError } from '@saccade/core';
import { openDevice, referenceBackend } from '@saccade/ops';
import { Tape, type Tensor, tensor } from '@saccade/tensor';
import { afterAll, describe, expect, it } from 'vitest';
import { geluFeedForward } from './feed-forward.ts';
import { expectClose, readGolden } from './golden.fixture.ts';
import { type TileTowerNames, tileTower, tileTowerSpecs } from './tile-tower.ts';

/** The shape in `goldens/write-goldens.py`. */
const shape = {
  depth: 2,
  hidden: 16,
  heads: 2,
  intermediate: 20,
  channels: 3,
  patchSize: 2,
  side: 4,
  mergeSize: 2,
  eps: 1e-6,
};
const internvl: TileTowerNames = {
  patches: 'embeddings.patch_embeddings.projection',
  positions: 'embeddings.position_embeddings',
  classToken: 'embeddings.cls_token',
  layers: 'encoder.layer',
  block: {
    norm: 'layer',
    attentionNorm: 'layernorm_before',
    query: 'attention.q_proj',
    key: 'attention.k_proj',
    value: 'attention.v_proj',
    output: 'attention.projection_layer',
    mlpNorm: 'layernorm_after',
    mlp: 'mlp',
    scales: { attention: 'lambda_1', mlp: 'lambda_2', start: 0.5 },
    hasQkvBias: true,
    hasOutputBias: true,
    feedForward: geluFeedForward({ layers: ['fc1', 'fc2'], approximate: 'none' }),
  },
};
const siglip: TileTowerNames = {
  patches: 'embeddings.patch_embedding',
  positions: 'embeddings.position_embedding.weight',
  layers: 'encoder.layers',
  block: {
    norm: 'layer',
    attentionNorm: 'layer_norm1',
    query: 'self_attn.q_proj',
    key: 'self_attn.k_proj',
    value: 'self_attn.v_proj',
    output: 'self_attn.out_proj',
    mlpNorm: 'layer_norm2',
    mlp: 'mlp',
    hasQkvBias: true,
    hasOutputBias: true,
    feedForward: geluFeedForward({ layers: ['fc1', 'fc2'], approximate: 'tanh' }),
  },
  finalNorm: 'post_layernorm',
};
const device = openDevice(referenceBackend());
afterAll(() => device.dispose());

describe.each([
  ['class-token-tower', internvl],
  ['siglip-tower', siglip],
])('tileTower as in %s', (file, names) => {
  it("gives transformers' units and torch's gradients", async () => {
    const golden = await readGolden(file);
    const parameters = golden.tensors(device, 'tower.');
    const keys = Object.keys(parameters);
    const specs = tileTowerSpecs('tower', names, shape);
    expect(keys.sort()).toEqual(specs.map(({ name }) => name).sort());
    for (const spec of specs) expect(parameters[spec.name]?.shape, spec.name).toEqual(spec.shape);
    const patches = golden.tensor(device, 'patches');
    const grids = [
      { frames: 2, height: 4, width: 4 },
      { frames: 1, height: 4, width: 4 },
    ];
    const tape = new Tape(keys.map((name) => parameters[name] as Tensor));
    const units = tape.run(() => tileTower(parameters, 'tower', names, shape, { patches, grids }));
    expect(units.shape).toEqual([12, 64]);
    expectClose('units', await units.read(), golden.floats('units'), 2e-6);
    const gradients = tape.backward([[units, golden.tensor(device, 'seed')]]);
    tape.dispose();
    for (const [i, name] of keys.entries()) {
      const values = await (gradients[i] as Tensor).read();
      const expected = golden.floats(`grad.${name}`);
      // A bias of the keys moves all scores of a query alike: its gradient is zero.
      if (name.endsWith('k_proj.bias')) {
        for (const list of [values, expected]) {
          for (const value of list) expect(Math.abs(value)).toBeLessThan(1e-5);
        }
        continue;
      }
      expectClose(name, values, expected, 1e-5);
    }
  });
});

describe('tileTower', () => {
  it('refuses a tile of another size', () => {
    const patches = tensor(device, 'f32', [4, 12], new Float32Array(48));
    const grids = [{ frames: 1, height: 2, width: 2 }];
    expect(() => tileTower({}, 'tower', siglip, shape, { patches, grids })).toThrow(ShapeError);
  });
});
