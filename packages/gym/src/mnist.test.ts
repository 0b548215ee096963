import { describe, expect, it } from 'vitest';
import { DIGIT_SIZE, mnist } from './mnist.ts';

describe('mnist', () => {
  // The first ten labels of the official files, as other readers of them print them.
  it.each([
    ['train', 60_000, [5, 0, 4, 1, 9, 2, 1, 3, 1, 4]],
    ['heldOut', 10_000, [7, 2, 1, 0, 4, 1, 4, 9, 5, 9]],
  ] as const)('reads the official %s split', (split, count, labels) => {
    const digits = mnist(split);
    expect(digits.count).toBe(count);
    expect(labels.map((_, index) => digits.label(index))).toEqual(labels);
    expect(digits.pixels(count - 1)).toHaveLength(DIGIT_SIZE ** 2);
  });

  it('reads a split once', () => {
    expect(mnist('train')).toBe(mnist('train'));
  });

  it('gives strokes of full ink that keep clear of the edge', () => {
    const { pixels, count } = mnist('heldOut');
    for (let index = 0; index < count; index += 997) {
      const ink = pixels(index);
      const edge = ink.filter((_, at) => {
        const [x, y] = [at % DIGIT_SIZE, Math.floor(at / DIGIT_SIZE)];
        return Math.min(x, y, DIGIT_SIZE - 1 - x, DIGIT_SIZE - 1 - y) === 0;
      });
      expect(Math.max(...edge)).toBe(0);
      expect(Math.max(...ink)).toBeGreaterThan(200);
    }
  });
});
