import { type Device, openDevice, referenceBackend } from '@saccade/ops';
import { Tape, type Tensor } from '@saccade/tensor';
import { afterAll, describe, expect, it } from 'vitest';
import { expertsFeedForward } from './experts.ts';
import { expectClose, readGolden } from './golden.fixture.ts';
import { initialize } from './parameters.ts';

const device: Device = openDevice(referenceBackend());
afterAll(() => device.dispose());

const shape = { experts: 5, perToken: 2, intermediate: 7 };
const layer = expertsFeedForward(shape);

describe('expertsFeedForward', () => {
  it("gives transformers' sparse layer and torch's gradients", async () => {
    const golden = await readGolden('experts');
    // The case is one of unequal loads: an expert has no token, another more than two.
    const counts = new Array<number>(shape.experts).fill(0);
    for (const expert of golden.integers('chosen')) counts[expert] = (counts[expert] ?? 0) + 1;
    expect(Math.min(...counts)).toBe(0);
    expect(Math.max(...counts)).toBeGreaterThan(2);
    const parameters = golden.tensors(device, 'mlp.');
    const names = Object.keys(parameters);
    const x = golden.tensor(device, 'x');
    const tape = new Tape([x, ...names.map((name) => parameters[name] as Tensor)]);
    const y = tape.run(() => layer.apply(parameters, 'mlp', x));
    expectClose('y', await y.read(), golden.floats('y'), 2e-6);
    const gradients = tape.backward([[y, golden.tensor(device, 'seed')]]);
    tape.dispose();
    for (const [i, name] of ['x', ...names].entries()) {
      const values = await (gradients[i] as Tensor).read();
      expectClose(name, values, golden.floats(`grad.${name}`), 1e-5);
    }
  });

  it('describes the parameters that it takes', async () => {
    const golden = await readGolden('experts');
    const specs = layer.specs('mlp', 12, 0);
    const stored = golden.tensors(device, 'mlp.');
    expect(Object.fromEntries(specs.map(({ name, shape: own }) => [name, own]))).toEqual(
      Object.fromEntries(Object.entries(stored).map(([name, one]) => [name, one.shape])),
    );
    const made = initialize(device, specs, 1);
    expect(Object.keys(made)).toEqual(specs.map(({ name }) => name));
  });
});
