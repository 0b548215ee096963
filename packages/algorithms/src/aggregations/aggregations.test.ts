import { ConfigError } from '@saccade/core';
import { describe, expect, it } from 'vitest';
import { countGlobally } from '../counts.ts';
import { fixedLength } from './fixed-length.ts';
import { sequenceMeanTokenMean } from './sequence-mean-token-mean.ts';
import { sequenceMeanTokenSum } from './sequence-mean-token-sum.ts';
import { tokenMean } from './token-mean.ts';
import { tokenSum } from './token-sum.ts';

// Sequences of three tokens with a hole, one token, and none that trains.
const lossMask = Float64Array.of(1, 0, 1, 1, 0);
const sequenceOffsets = Int32Array.of(0, 3, 4, 5);
const counts = countGlobally([{ lossMask, sequenceOffsets }]);

describe('aggregations, by hand', () => {
  it('count tokens, sequences, and sequences without a token', () => {
    expect(counts).toEqual({ tokens: 3, sequences: 2, emptySequences: 1 });
  });

  it.each([
    ['token-mean', tokenMean(), [1 / 3, 0, 1 / 3, 1 / 3, 0]],
    ['token-sum', tokenSum(), [1, 0, 1, 1, 0]],
    ['sequence-mean-token-mean', sequenceMeanTokenMean(), [1 / 4, 0, 1 / 4, 1 / 2, 0]],
    [
      'the same, counting all',
      sequenceMeanTokenMean({ emptySequences: 'count' }),
      [1 / 6, 0, 1 / 6, 1 / 3, 0],
    ],
    ['sequence-mean-token-sum', sequenceMeanTokenSum(), [1 / 2, 0, 1 / 2, 1 / 2, 0]],
    ['fixed-length', fixedLength({ fixedLength: 10 }), [1 / 20, 0, 1 / 20, 1 / 20, 0]],
    [
      'the same, counting all',
      fixedLength({ fixedLength: 10, emptySequences: 'count' }),
      [1 / 30, 0, 1 / 30, 1 / 30, 0],
    ],
  ])('%s', (_, aggregation, weights) => {
    aggregation(lossMask, sequenceOffsets, counts).forEach((weight, t) => {
      expect(weight).toBeCloseTo(weights[t], 15);
    });
  });

  it('fixed-length needs a length', () => {
    expect(() => fixedLength({ fixedLength: 0 })).toThrow(ConfigError);
    expect(() => fixedLength({ fixedLength: 0 })).toThrow(/most tokens a trajectory may have/);
  });
});
