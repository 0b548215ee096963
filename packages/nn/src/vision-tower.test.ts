import { ShapeError } from '@saccade/core';
import { openDevice, referenceBackend } from '@saccade/ops';
import { Tape, type Tensor, tensor } from '@saccade/tensor';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { expectClose, type Golden, readGolden } from './golden.fixture.ts';
import { initialize } from './parameters.ts';
import { type VisionTowerShape, visionTower, visionTowerSpecs } from './vision-tower.ts';
import { type PatchGrid, windowLayout } from './vision-windows.ts';

/** The shape in `goldens/write-goldens.py`. */
const shape: VisionTowerShape = {
  depth: 2,
  hidden: 16,
  heads: 2,
  intermediate: 20,
  outputHidden: 12,
  channels: 3,
  patchSize: 2,
  mergeSize: 2,
  temporalPatchSize: 2,
  windowSize: 8,
  fullAttentionBlocks: [1],
  eps: 1e-6,
  ropeTheta: 10000,
};

const device = openDevice(referenceBackend());
let golden: Golden;
let grids: PatchGrid[];
beforeAll(async () => {
  golden = await readGolden('vision-tower');
  const numbers = golden.integers('grids');
  grids = Array.from({ length: numbers.length / 3 }, (_, i) => {
    const [frames, height, width] = numbers.subarray(3 * i) as unknown as number[];
    return { frames, height, width } as PatchGrid;
  });
});
afterAll(() => device.dispose());

describe('windowLayout', () => {
  it('orders units and cuts windows as transformers does, clips and ragged edges included', () => {
    const layout = windowLayout(grids, shape);
    expect([...layout.order]).toEqual([...golden.integers('order')]);
    let end = 0;
    const ends = [0, ...layout.windowSizes.map((size) => (end += size))];
    expect(ends).toEqual([...golden.integers('window_ends')]);
    // Two frames of 4×6 patches, then a frame of 10×6 and one of 4×4.
    expect(layout.frameSizes).toEqual([24, 24, 60, 16]);
    expect([...layout.inverse].map((place) => layout.order[place])).toEqual([
      ...layout.inverse.keys(),
    ]);
  });

  it('leaves images that are one window each unchanged', () => {
    const layout = windowLayout([{ frames: 1, height: 4, width: 2 }], shape);
    expect(layout.isIdentity).toBe(true);
    expect(layout.windowSizes).toEqual(layout.frameSizes);
    expect([...layout.rows]).toEqual([0, 0, 1, 1, 2, 2, 3, 3]);
    expect([...layout.columns]).toEqual([0, 1, 0, 1, 0, 1, 0, 1]);
  });

  it('refuses images that units do not tile, and windows smaller than a unit', () => {
    expect(() => windowLayout([{ frames: 1, height: 3, width: 4 }], shape)).toThrow(ShapeError);
    expect(() => windowLayout(grids, { ...shape, windowSize: 3 })).toThrow(ShapeError);
  });
});

describe('visionTower', () => {
  it("gives transformers' features and torch's gradients of every parameter", async () => {
    const parameters = golden.tensors(device, 'visual.');
    const names = Object.keys(parameters);
    expect(names.sort()).toEqual(
      visionTowerSpecs('visual', shape)
        .map(({ name }) => name)
        .sort(),
    );
    const tape = new Tape(names.map((name) => parameters[name] as Tensor));
    const patches = golden.tensor(device, 'patches');
    const features = tape.run(() => visionTower(parameters, 'visual', shape, { patches, grids }));
    expect(features.shape).toEqual(golden.array('features').shape);
    expectClose('features', await features.read(), golden.floats('features'), 2e-6);
    const gradients = tape.backward([[features, golden.tensor(device, 'seed')]]);
    tape.dispose();
    for (const [i, name] of names.entries()) {
      const values = await (gradients[i] as Tensor).read();
      expectClose(name, values, golden.floats(`grad.${name}`), 1e-5);
    }
  });

  it('gives an image the same features alone and among others', async () => {
    const parameters = initialize(device, visionTowerSpecs('visual', shape), 7);
    const all = golden.tensor(device, 'patches');
    const together = visionTower(parameters, 'visual', shape, { patches: all, grids });
    const last = { patches: all.rows(108, 124), grids: grids.slice(2) };
    const alone = visionTower(parameters, 'visual', shape, last);
    expect(await together.rows(27, 31).read()).toEqual(await alone.read());
  });

  it('refuses patches that do not fill the grids', () => {
    const parameters = golden.tensors(device, 'visual.');
    const patches = tensor(device, 'f32', [1, 24], new Float32Array(24));
    expect(() => visionTower(parameters, 'visual', shape, { patches, grids })).toThrow(ShapeError);
  });
});
