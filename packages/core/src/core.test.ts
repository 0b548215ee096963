import { describe, expect, it } from 'vitest';
import {
  convert,
  decode,
  encode,
  fromBf16Bits,
  fromF16Bits,
  type TypedArray,
  toBf16Bits,
  toF16Bits,
} from './dtype.ts';
import { DtypeError } from './errors.ts';
import { defineRegistry } from './registry.ts';
import { philox4x32, randomAt } from './rng.ts';

describe('philox4x32', () => {
  // Known-answer vectors of the Random123 distribution (kat_vectors, philox4x32 10).
  it('gives the published words', () => {
    expect(philox4x32([0, 0, 0, 0], [0, 0])).toEqual([
      0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8,
    ]);
    const ones = 0xffffffff;
    expect(philox4x32([ones, ones, ones, ones], [ones, ones])).toEqual([
      0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd,
    ]);
    expect(
      philox4x32([0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344], [0xa4093822, 0x299f31d0]),
    ).toEqual([0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1]);
  });
});

describe('randomAt', () => {
  it('repeats at the same address and differs at another', () => {
    const draw = (...path: (string | number)[]) => {
      const random = randomAt(7, ...path);
      return [random.word(), random.word(), random.uniform()];
    };
    expect(draw('a', 1)).toEqual(draw('a', 1));
    expect(draw('a', 1)).not.toEqual(draw('a', 2));
    expect(draw('a')).not.toEqual(draw('b'));
  });

  it('shuffles without losing an item', () => {
    const items = Array.from({ length: 50 }, (_, i) => i);
    const shuffled = randomAt(1, 'shuffle').shuffle(items);
    expect(shuffled).not.toEqual(items);
    expect([...shuffled].sort((a, b) => a - b)).toEqual(items);
  });
});

describe('16-bit floats', () => {
  it('keeps every bf16 and f16 pattern through a round trip', () => {
    for (let bits = 0; bits < 0x10000; bits++) {
      const b = fromBf16Bits(bits);
      if (!Number.isNaN(b)) expect(toBf16Bits(b)).toBe(bits);
      const h = fromF16Bits(bits);
      if (!Number.isNaN(h)) expect(toF16Bits(h)).toBe(bits);
    }
  });

  it('rounds ties to even', () => {
    expect(fromBf16Bits(toBf16Bits(1 + 2 ** -8))).toBe(1);
    expect(fromBf16Bits(toBf16Bits(1 + 3 * 2 ** -8))).toBe(1 + 2 ** -6);
    expect(fromF16Bits(toF16Bits(1 + 2 ** -11))).toBe(1);
    expect(fromF16Bits(toF16Bits(70000))).toBe(Infinity);
  });

  it('converts arrays as it converts elements', () => {
    const firstDifference = (a: TypedArray, b: TypedArray) =>
      a.length === b.length ? a.findIndex((x, i) => !Object.is(x, b[i])) : 0;
    const patterns = Uint16Array.from({ length: 0x10000 }, (_, bits) => bits);
    for (const dtype of ['bf16', 'f16'] as const) {
      const values = convert(patterns, dtype, 'f32');
      expect(firstDifference(values, Float32Array.from(decode(patterns, dtype)))).toBe(-1);
      for (const to of ['bf16', 'f16', 'f64'] as const) {
        if (to === dtype) continue;
        expect(firstDifference(convert(patterns, dtype, to), encode(values, to)), to).toBe(-1);
      }
      expect(convert(patterns, dtype, dtype)).toBe(patterns);
    }
    const random = randomAt(1, 'floats');
    const floats = Float32Array.from({ length: 4096 }, () => random.normal() * 1e-3);
    expect(convert(floats, 'f32', 'bf16')).toEqual(encode(floats, 'bf16'));
    expect(convert(floats.subarray(3), 'f32', 'bf16')).toEqual(encode(floats.subarray(3), 'bf16'));
    expect(convert(Float64Array.of(0.1), 'f64', 'f32')).toEqual(Float32Array.of(0.1));
    expect(() => convert(Int32Array.of(1), 'i32', 'f32')).toThrow(DtypeError);
  });
});

describe('defineRegistry', () => {
  it('names the known units when asked for an unknown one', () => {
    const registry = defineRegistry('fruit', { redApple: { weight: 1 }, pear: { id: 'pear' } });
    expect(registry.names).toEqual(['pear', 'red-apple']);
    expect(() => registry.get('plum')).toThrow('There is no fruit "plum". Known: pear, red-apple.');
  });
});
