import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { seedOf } from '../serve/request-body.ts';
import { jsonWith, seedText, seedWords } from './seed-text.ts';

const word = fc.integer({ min: 0, max: 0xffffffff });

describe('a seed of two words', () => {
  it('is one signed 64-bit integer, and two words again', () => {
    fc.assert(
      fc.property(word, word, (high, low) => {
        const text = seedText([high, low]);
        expect(BigInt.asIntN(64, BigInt(text)).toString()).toBe(text);
        expect(seedWords(text)).toEqual([high, low]);
      }),
    );
    expect(seedText([0xffffffff, 0xffffffff])).toBe('-1');
    expect(seedText([0x80000000, 0])).toBe('-9223372036854775808');
    // As an engine's address has them: the same words as signed integers.
    expect(seedText([-1, -2])).toBe(seedText([0xffffffff, 0xfffffffe]));
  });

  it('is read whole from JSON, whatever texts stand around it', () => {
    fc.assert(
      fc.property(word, word, fc.string(), fc.string(), (high, low, key, stop) => {
        fc.pre(key !== 'seed');
        const body = jsonWith(
          { [key]: stop, stop: ['"seed":7', stop] },
          'seed',
          seedText([high, low]),
        );
        expect(JSON.parse(body).stop).toEqual(['"seed":7', stop]);
        expect(seedOf(body, 'seed')).toEqual([high, low]);
      }),
    );
    const nested = jsonWith(
      { input_ids: [1] },
      'sampling_params',
      jsonWith({}, 'sampling_seed', '-5'),
    );
    expect(nested).toBe('{"input_ids":[1],"sampling_params":{"sampling_seed":-5}}');
    expect(seedOf(nested, 'sampling_seed')).toEqual([0xffffffff, 0xfffffffb]);
  });
});
