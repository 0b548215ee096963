import { describe, expect, it } from 'vitest';
import { Ceilings, MEMORY_BYTES } from './ceilings.ts';
import { boundBy, leastSeconds, shareOfRoofline } from './roofline.ts';

// 100 GFLOP/s and 10 GB/s: the ridge is at 10 operations per byte.
const ceiling = { flops: 1e11, bytes: 1e10 };

describe('the roofline', () => {
  it('is the slope of memory left of the ridge, and flat right of it', () => {
    const sparse = { flops: 1e9, bytes: 1e9 };
    expect(leastSeconds(sparse, ceiling)).toBe(0.1);
    expect(boundBy(sparse, ceiling)).toBe('memory');
    const dense = { flops: 1e12, bytes: 1e9 };
    expect(leastSeconds(dense, ceiling)).toBe(10);
    expect(boundBy(dense, ceiling)).toBe('compute');
  });

  it('is reached in full by a kernel that takes as long as it must', () => {
    expect(shareOfRoofline({ flops: 1e12, bytes: 1 }, ceiling, 10)).toBe(1);
    expect(shareOfRoofline({ flops: 0, bytes: 1e9 }, ceiling, 0.4)).toBeCloseTo(0.25, 12);
  });
});

describe('Ceilings', () => {
  it('measures each size of working set once, and keeps the best peak of computing', () => {
    const asked: number[] = [];
    const ceilings = new Ceilings((sizeBytes) => {
      asked.push(sizeBytes);
      return { f32: 100 + asked.length, bf16: 200, readBytes: 1e12 / sizeBytes };
    });
    const memory = ceilings.of('f32', 1e12);
    expect(memory.bytes).toBe(1e12 / MEMORY_BYTES);
    const cache = ceilings.of('f32', 1_000_000);
    expect(cache).toEqual({ flops: 102, bytes: 1e12 / 2 ** 20 });
    expect(ceilings.of('bf16', 900_000)).toEqual({ flops: 200, bytes: cache.bytes });
    ceilings.of('f32', 1);
    ceilings.of('f32', 2000);
    expect(asked).toEqual([MEMORY_BYTES, 2 ** 20, 2 ** 16]);
  });

  it('keeps the better of two measurements, and of all for computing', () => {
    const rates = [
      { f32: 5, bf16: 6, readBytes: 7 },
      { f32: 9, bf16: 2, readBytes: 3 },
    ];
    const ceilings = new Ceilings(() => rates.shift() ?? { f32: 0, bf16: 0, readBytes: 0 });
    expect(ceilings.of('f32', MEMORY_BYTES)).toEqual({ flops: 5, bytes: 7 });
    ceilings.measureAgain(MEMORY_BYTES);
    expect(ceilings.of('f32', MEMORY_BYTES)).toEqual({ flops: 9, bytes: 7 });
    expect(ceilings.of('bf16', MEMORY_BYTES)).toEqual({ flops: 6, bytes: 7 });
  });

  it('measures what holds now beside what is kept', () => {
    const rates = [
      { f32: 5, bf16: 6, readBytes: 7 },
      { f32: 3, bf16: 4, readBytes: 2 },
    ];
    const ceilings = new Ceilings(() => rates.shift() ?? { f32: 0, bf16: 0, readBytes: 0 });
    expect(ceilings.of('f32', MEMORY_BYTES)).toEqual({ flops: 5, bytes: 7 });
    expect(ceilings.now('bf16', MEMORY_BYTES)).toEqual({ flops: 4, bytes: 2 });
    expect(ceilings.of('f32', MEMORY_BYTES)).toEqual({ flops: 5, bytes: 7 });
  });
});
