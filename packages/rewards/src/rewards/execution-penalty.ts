/** CodeDance's penalty for a turn whose code failed. */
import { quantity } from '@saccade/core/settings';
import { z } from 'zod';
import { defineReward } from '../define-reward.ts';

const settings = z.strictObject({
  penalty: quantity({
    min: -100,
    max: 0,
    default: -0.5,
    unit: 'reward',
    about: 'Value of a turn whose code failed.',
  }),
});

/**
 * Turn by turn, the penalty where code failed.
 *
 *   r_t = penalty·1{code of turn t failed};   0 after success and without code
 *
 * CodeDance, arXiv:2512.17312, eq. 2. The discounted return and its normalization over the batch
 * belong to the advantage (`turn-returns` in the algorithms). Since r_t ≤ 0, subtracting the mean
 * gives successful turns a positive advantage: a hidden bonus for calls.
 */
export const executionPenalty = defineReward({
  name: 'execution-penalty',
  scope: 'turn',
  description: 'A penalty for each turn whose code failed.',
  paper: 'CodeDance, arXiv:2512.17312, eq. 2',
  settings,
  origins: { penalty: 'note' },
  range: ({ penalty }) => [Math.min(penalty, -Number.MIN_VALUE), 0],
  score: ({ turns }, _, { penalty }) =>
    turns.map(({ result }) => (result !== undefined && result.kind !== 'ok' ? penalty : 0)),
});
