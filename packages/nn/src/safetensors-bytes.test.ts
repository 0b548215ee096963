import { randomAt } from '@saccade/core';
import { expect, it } from 'vitest';
import type { NamedArray } from './safetensors.ts';
import { decodeSafetensors, encodeSafetensors } from './safetensors-bytes.ts';

it('gives back arrays and texts, bit for bit', () => {
  for (let seed = 0; seed < 50; seed++) {
    const random = randomAt(seed, 'bodies');
    const arrays = new Map<string, NamedArray>();
    for (let i = random.integer(6); i > 0; i--) {
      const bits = Uint32Array.from({ length: random.integer(20) }, () => random.integer(2 ** 32));
      const isFloat = random.uniform() < 0.5;
      const data = new (isFloat ? Float32Array : Int32Array)(bits.buffer);
      const dtype = isFloat ? ('f32' as const) : ('i32' as const);
      arrays.set(`t${i}é`, { dtype, shape: [data.length], data });
    }
    const body = JSON.stringify({ seed, text: '"ü\n' });
    const encoded = encodeSafetensors({ arrays, metadata: { body } });
    // Node's buffers are views of a pool.
    const bytes = seed % 2 === 0 ? encoded : Buffer.concat([encoded]);
    const read = decodeSafetensors('a body', bytes);
    expect(read.metadata.body).toBe(body);
    expect([...read.arrays.keys()]).toEqual([...arrays.keys()]);
    for (const [name, { data }] of arrays) {
      expect(read.arrays.get(name)?.data.buffer).toEqual(data.buffer);
    }
  }
});

it('refuses any bytes cut from a body, by a typed error', () => {
  const data = Float32Array.of(1, 2, 3);
  const bytes = encodeSafetensors({
    arrays: new Map([['x', { dtype: 'f32', shape: [3], data }]]),
    metadata: { body: '{}' },
  });
  for (let end = 0; end < bytes.length; end++) {
    expect(() => decodeSafetensors('a body', bytes.subarray(0, end))).toThrow(/a body/);
  }
});
