import { MissingError } from '@saccade/core';
import { describe, expect, it } from 'vitest';
import { initialValues, parameter } from './parameters.ts';

describe('initialValues', () => {
  it('depends on the seed and the name alone', () => {
    const spec = {
      name: 'a.weight',
      shape: [3, 4],
      initializer: { kind: 'normal', std: 1 },
    } as const;
    const values = initialValues(spec, 1);
    expect(initialValues(spec, 1)).toEqual(values);
    expect(initialValues(spec, 2)).not.toEqual(values);
    expect(initialValues({ ...spec, name: 'b.weight' }, 1)).not.toEqual(values);
  });

  it('draws the same weights as in every release, so that recorded results stay', () => {
    const initializer = { kind: 'normal', std: 1 } as const;
    const values = initialValues({ name: 'a.weight', shape: [4], initializer }, 1);
    expect([...values].map((value) => value.toFixed(6))).toEqual([
      '-0.047484',
      '1.106777',
      '1.866731',
      '-0.302833',
    ]);
  });

  it('scales normals by the gain and the inputs of a row', () => {
    const initializer = { kind: 'scaledNormal', gain: 3 } as const;
    const values = initialValues({ name: 'w', shape: [100, 5, 20], initializer }, 1);
    const variance = values.reduce((sum, x) => sum + x * x, 0) / values.length;
    // Var = 3²/100; the mean of 10⁴ squares is within 5 σ = 7 % of it.
    expect(Math.abs(variance / 0.09 - 1)).toBeLessThan(0.07);
  });

  it('fills constants', () => {
    const initializer = { kind: 'constant', value: 0.5 } as const;
    expect([...initialValues({ name: 'w', shape: [2], initializer }, 1)]).toEqual([0.5, 0.5]);
  });
});

describe('parameter', () => {
  it('names what the weights lack', () => {
    expect(() => parameter({}, 'model.norm.weight')).toThrow(MissingError);
    expect(() => parameter({}, 'model.norm.weight')).toThrow(/model\.norm\.weight/);
  });
});
