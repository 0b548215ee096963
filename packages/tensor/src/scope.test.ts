import { randomAt, ShapeError, StateError } from '@saccade/core';
import { openDevice, referenceBackend } from '@saccade/ops';
import { afterAll, describe, expect, it } from 'vitest';
import { add } from './fronts.ts';
import { asyncScope, Scope, scope, tensor, zeros } from './scope.ts';
import type { Tensor } from './tensor.ts';

const device = openDevice(referenceBackend());
afterAll(() => device.dispose());

function normal(shape: readonly number[]): Tensor {
  const random = randomAt(3, 'normal');
  const size = shape.reduce((product, n) => product * n, 1);
  const values = Float32Array.from({ length: size }, () => random.normal());
  return tensor(device, 'f32', shape, values);
}

describe('scope', () => {
  it('frees what was made inside, except the tensors of its result', async () => {
    const before = device.allocatedBytes();
    const kept = scope(() => {
      const x = normal([2, 3]);
      return { sum: add(x, x), parts: [add(x, x)], count: 2 };
    });
    expect(device.allocatedBytes()).toBe(before + 2 * 6 * 4);
    expect(await kept.sum.read()).toHaveLength(6);
    kept.sum.dispose();
    kept.parts[0]?.dispose();
    expect(device.allocatedBytes()).toBe(before);
  });

  it('keeps the memory of a returned view', async () => {
    const view = scope(() => tensor(device, 'f32', [2, 2], [1, 2, 3, 4]).rows(1, 2));
    expect([...(await view.read())]).toEqual([3, 4]);
    view.dispose();
  });

  it('hands the result of an inner scope to the outer one', () => {
    const before = device.allocatedBytes();
    scope(() => {
      scope(() => normal([5]));
      const outer = new Scope();
      outer.run(() => outer.keep(normal([7])));
      outer.dispose();
    });
    expect(device.allocatedBytes()).toBe(before);
  });

  it('frees what was made before an error', () => {
    const before = device.allocatedBytes();
    expect(() =>
      scope(() => {
        normal([3]);
        throw new StateError('stop');
      }),
    ).toThrow('stop');
    expect(device.allocatedBytes()).toBe(before);
  });

  it('says what to do when a tensor is used after its scope', () => {
    let leaked: Tensor | undefined;
    scope(() => {
      leaked = normal([2]);
    });
    expect(() => leaked?.array).toThrow(StateError);
  });

  it('refuses work that returns a promise', () => {
    expect(() => new Scope().run(() => Promise.resolve())).toThrow(StateError);
  });
});

describe('asyncScope', () => {
  it('frees what was made in all its runs, except the result', async () => {
    const before = device.allocatedBytes();
    const kept = await asyncScope(async (inner) => {
      const x = inner.run(() => normal([2, 3]));
      await x.read();
      return inner.run(() => add(x, x));
    });
    expect(device.allocatedBytes()).toBe(before + 6 * 4);
    kept.dispose();
    expect(device.allocatedBytes()).toBe(before);
  });

  it('keeps two scopes apart that wait for each other', async () => {
    const before = device.allocatedBytes();
    const one = asyncScope(async (inner) => {
      const x = inner.run(() => normal([4]));
      await Promise.resolve();
      return [...(await inner.run(() => x.reshape([2, 2])).read())];
    });
    await asyncScope(async (inner) => {
      inner.run(() => normal([9]));
    });
    expect(await one).toHaveLength(4);
    expect(device.allocatedBytes()).toBe(before);
  });
});

describe('Tensor', () => {
  it('reads and writes through views without copies', async () => {
    const x = zeros(device, 'f32', [3, 2]);
    const before = device.allocatedBytes();
    x.rows(1, 3).reshape([-1]).write([1, 2, 3, 4]);
    x.reshape([2, 3]).rows(0, 1).write([7, 8, 9]);
    expect([...(await x.read())]).toEqual([7, 8, 9, 2, 3, 4]);
    expect(device.allocatedBytes()).toBe(before);
  });

  it.each([[[7]], [[-1, 4]], [[-1, -1]], [[-1, 0]], [[-2, -3]]])(
    'refuses to become %j',
    (shape) => {
      const x = zeros(device, 'f32', [6]);
      expect(() => x.reshape(shape)).toThrow(ShapeError);
      x.dispose();
    },
  );

  it.each([
    [-1, 1],
    [2, 1],
    [0, 4],
    [Number.NaN, 2],
  ])('refuses rows %d to %d of three', (start, end) => {
    const x = zeros(device, 'f32', [3, 2]);
    expect(() => x.rows(start, end)).toThrow(ShapeError);
    x.dispose();
  });
});
