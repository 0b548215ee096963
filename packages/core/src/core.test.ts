import { describe, expect, it } from 'vitest';
import { fromBf16Bits, fromF16Bits, toBf16Bits, toF16Bits } from './dtype.ts';
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
});

describe('defineRegistry', () => {
  it('names the known units when asked for an unknown one', () => {
    const registry = defineRegistry('fruit', { redApple: { weight: 1 }, pear: { id: 'pear' } });
    expect(registry.names).toEqual(['pear', 'red-apple']);
    expect(() => registry.get('plum')).toThrow('There is no fruit "plum". Known: pear, red-apple.');
  });
});
