import { ShapeError } from '@saccade/core';
import { openDevice, referenceBackend } from '@saccade/ops';
import { Tape, type Tensor, tensor } from '@saccade/tensor';
import { afterAll, describe, expect, it } from 'vitest';
import { type DeepstackTowerShape, deepstackTower, deepstackTowerSpecs } from './deepstack-tower.ts';
import { expectClose, readGolden } from './golden.fixture.ts';
import type { PatchGrid } from './vision-windows.ts';

/** The shape in `goldens/write-goldens.py`. */
const shape: DeepstackTowerShape = {
  depth: 3,
  hidden: 16,
  heads: 2,
  intermediate: 20,
  outputHidden: 12,
  channels: 3,
  patchSize: 2,
  mergeSize: 2,
  temporalPatchSize: 2,
  positions: 25,
  deepstackBlocks: [0, 1],
  eps: 1e-6,
  ropeTheta: 10000,
};
const device = openDevice(referenceBackend());
afterAll(() => device.dispose());

function gridsOf(numbers: Int32Array): PatchGrid[] {
  return Array.from({ length: numbers.length / 3 }, (_, i) => {
    const [frames = 0, height = 0, width = 0] = numbers.subarray(3 * i);
    return { frames, height, width };
  });
}

describe('deepstackTower', () => {
  it("gives transformers' features of every depth and torch's gradients", async () => {
    const golden = await readGolden('deepstack-tower');
    const parameters = golden.tensors(device, 'visual.');
    const names = Object.keys(parameters);
    const specs = deepstackTowerSpecs('visual', shape);
    expect(names.sort()).toEqual(specs.map(({ name }) => name).sort());
    for (const { name, shape: expected } of specs) {
      expect(parameters[name]?.shape, name).toEqual(expected);
    }
    const grids = gridsOf(golden.integers('grids'));
    const patches = golden.tensor(device, 'patches');
    const tape = new Tape(names.map((name) => parameters[name] as Tensor));
    const features = tape.run(() =>
      deepstackTower(parameters, 'visual', shape, { patches, grids }),
    );
    expect(features).toHaveLength(3);
    for (const [level, one] of features.entries()) {
      expect(one.shape).toEqual([28, 12]);
      expectClose(
        `level ${level}`,
        await one.read(),
        golden.floats(`features.${level}`),
        2e-6,
      );
    }
    const gradients = tape.backward(
      features.map((one, level) => [one, golden.tensor(device, `seed.${level}`)]),
    );
    tape.dispose();
    for (const [i, name] of names.entries()) {
      const values = await (gradients[i] as Tensor).read();
      expectClose(name, values, golden.floats(`grad.${name}`), 1e-5);
    }
  });

  it('gives an image the same features alone and among others', async () => {
    const golden = await readGolden('deepstack-tower');
    const parameters = golden.tensors(device, 'visual.');
    const all = golden.tensor(device, 'patches');
    const grids = gridsOf(golden.integers('grids'));
    const together = deepstackTower(parameters, 'visual', shape, { patches: all, grids });
    const last = { patches: all.rows(108, 112), grids: grids.slice(2) };
    const alone = deepstackTower(parameters, 'visual', shape, last);
    for (const [level, one] of together.entries()) {
      expect(await one.rows(27, 28).read()).toEqual(await (alone[level] as Tensor).read());
    }
  });

  it('refuses patches that do not fill the grids, and grids without whole units', () => {
    const patches = tensor(device, 'f32', [1, 24], new Float32Array(24));
    const run = (height: number) =>
      deepstackTower({}, 'visual', shape, { patches, grids: [{ frames: 1, height, width: 2 }] });
    expect(() => run(2)).toThrow('The grids have 4 patches, but patches are [1, 24].');
    expect(() => run(3)).toThrow(ShapeError);
  });
});
