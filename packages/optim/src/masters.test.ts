import { convert, randomAt } from '@saccade/core';
import { openDevice, referenceBackend } from '@saccade/ops';
import { type Tensor, tensor } from '@saccade/tensor';
import { afterAll, describe, expect, it } from 'vitest';
import { createOptimizer, optimizers } from './registry.ts';
import { disposeState, exportState, importState, type OptimizerState } from './state.ts';

const device = openDevice(referenceBackend());
afterAll(() => device.dispose());

const shapes = { 'layer.w': [6, 8], 'layer.b': [8] } as const;
type Name = keyof typeof shapes;
const names = Object.keys(shapes) as Name[];

/** Start values that bf16 holds exactly. */
function start(name: Name): Float32Array {
  const random = randomAt(1, name);
  const values = Float32Array.from({ length: name === 'layer.w' ? 48 : 8 }, () => random.normal());
  return convert(convert(values, 'f32', 'bf16'), 'bf16', 'f32') as Float32Array;
}

const make = (dtype: 'f32' | 'bf16') =>
  Object.fromEntries(
    names.map((name) => [name, tensor(device, dtype, [...shapes[name]], start(name))]),
  ) as Record<Name, Tensor>;

function gradients(step: number): Record<Name, Tensor> {
  const random = randomAt(2, 'gradient', step);
  const drawn = names.map((name) => {
    const values = start(name).map(() => random.normal());
    return [name, tensor(device, 'f32', [...shapes[name]], values)];
  });
  return Object.fromEntries(drawn);
}

async function run(
  optimizer: ReturnType<typeof createOptimizer>,
  parameters: Record<Name, Tensor>,
  state: OptimizerState,
  [from, to]: readonly [number, number],
): Promise<OptimizerState> {
  let after = state;
  for (let step = from; step < to; step++) {
    // Below the distance of two bf16 numbers near 1, 2⁻⁸; twelve steps move some smaller ones.
    const info = { learningRate: 1e-3 };
    after = (await optimizer.step(parameters, gradients(step), after, info)).state;
  }
  return after;
}

describe.each(optimizers.names)('%s on bf16 parameters', (name) => {
  const optimizer = createOptimizer({ name });

  it('steps f32 masters as it steps f32 parameters, and rounds', async () => {
    const [wide, narrow] = [make('f32'), make('bf16')];
    const states = [optimizer.init(wide), optimizer.init(narrow)] as const;
    const after = await run(optimizer, wide, states[0], [0, 12]);
    const withMasters = await run(optimizer, narrow, states[1], [0, 12]);
    for (const key of names) {
      const exact = await wide[key].read();
      expect(await withMasters.tensors[`master.${key}`]?.read()).toEqual(exact);
      const rounded = convert(Float32Array.from(exact), 'f32', 'bf16');
      expect(await narrow[key].readStored()).toEqual(rounded);
      expect(rounded).not.toEqual(convert(start(key), 'f32', 'bf16'));
      expect(after.tensors[`master.${key}`]).toBeUndefined();
    }
    for (const state of [after, withMasters]) disposeState(state);
  });

  it('goes on from a saved state with the same bits', async () => {
    const whole = make('bf16');
    const done = await run(optimizer, whole, optimizer.init(whole), [0, 6]);
    const parts = make('bf16');
    const half = await run(optimizer, parts, optimizer.init(parts), [0, 3]);
    const saved = await exportState(half);
    expect(saved.numbers.masters).toBe(1);
    const resumed = importState(optimizer.init(parts), saved);
    const after = await run(optimizer, parts, resumed, [3, 6]);
    for (const key of names) {
      expect(await parts[key].readStored()).toEqual(await whole[key].readStored());
      const master = `master.${key}`;
      expect(await after.tensors[master]?.read()).toEqual(await done.tensors[master]?.read());
    }
    for (const state of [done, half, after]) disposeState(state);
  });

  it('saves no masters of f32 parameters', () => {
    const state = optimizer.init(make('f32'));
    expect(Object.keys(state.numbers)).not.toContain('masters');
    expect(Object.keys(state.tensors).some((key) => key.startsWith('master.'))).toBe(false);
    disposeState(state);
  });
});
