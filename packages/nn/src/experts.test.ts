import { openDevice, referenceBackend } from '@saccade/ops';
import { Tape, type Tensor } from '@saccade/tensor';
import { afterAll, describe, expect, it } from 'vitest';
import { type ExpertRouting, expertsFeedForward } from './experts.ts';
import { expectClose, readGolden } from './golden.fixture.ts';

/** The sizes in `goldens/write-goldens.py`. */
const shape = { experts: 5, perToken: 2, intermediate: 10 };
const device = openDevice(referenceBackend());
afterAll(() => device.dispose());

describe('expertsFeedForward', () => {
  it("gives transformers' output and torch's gradients, and names the experts", async () => {
    const golden = await readGolden('experts');
    const parameters = golden.tensors(device, 'mlp.');
    const names = Object.keys(parameters);
    const chosen: Promise<ArrayLike<number>>[] = [];
    const layer = expertsFeedForward(shape, { chosen: (experts) => chosen.push(experts.read()) });
    for (const spec of layer.specs('mlp', 12, 0)) {
      expect(parameters[spec.name]?.shape, spec.name).toEqual(spec.shape);
    }
    const x = golden.tensor(device, 'x');
    const tape = new Tape([x, ...names.map((name) => parameters[name] as Tensor)]);
    const y = tape.run(() => layer.apply(parameters, 'mlp', x));
    expectClose('y', await y.read(), golden.floats('y'), 2e-6);
    expect(chosen).toHaveLength(1);
    expect([...((await chosen[0]) ?? [])]).toEqual([...golden.integers('chosen')]);
    const gradients = tape.backward([[y, golden.tensor(device, 'seed')]]);
    tape.dispose();
    for (const [i, name] of ['x', ...names].entries()) {
      const values = await (gradients[i] as Tensor).read();
      expectClose(name, values, golden.floats(`grad.${name}`), 1e-5);
    }
  });

  it('uses the experts that it is given, in the rows that have some', async () => {
    const golden = await readGolden('experts');
    const parameters = golden.tensors(device, 'mlp.');
    const x = golden.tensor(device, 'x');
    const run = async (routing: ExpertRouting) =>
      await expertsFeedForward(shape, routing).apply(parameters, 'mlp', x).read();
    const own = [...golden.integers('chosen')];
    const plain = await run({});
    expect(await run({ given: Int32Array.from(own) })).toEqual(plain);
    // The last token goes elsewhere, the others are left to the router.
    const others = [0, 1, 2, 3, 4].filter((expert) => !own.slice(-2).includes(expert));
    const given = new Int32Array(own.length).fill(-1);
    given.set(others.slice(0, 2), own.length - 2);
    const changed = await run({ given });
    expect(changed.slice(0, -12)).toEqual(plain.slice(0, -12));
    expect(changed.slice(-12)).not.toEqual(plain.slice(-12));
  });
});
