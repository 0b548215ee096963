/** VISTA-R1's format reward. */
import { quantity } from '@saccade/core/settings';
import { z } from 'zod';
import { defineReward } from '../define-reward.ts';
import { isWellFormed, repeats } from './vista-outcome.ts';

const settings = z.strictObject({
  conforming: quantity({
    min: -10,
    max: 10,
    default: 1,
    unit: 'reward',
    about: 'Value if every turn conforms.',
  }),
  malformed: quantity({
    min: -10,
    max: 10,
    default: -1,
    unit: 'reward',
    about: 'Value if a turn does not conform.',
  }),
});

/**
 * 1 if every turn conforms, −1 if one does not; 0 where the text repeats itself, which the term
 * `repetition` punishes instead, with the settings it has in the same reward.
 *
 *   R_format = (1{all turns conform} − 0.5)·2
 *
 * VISTA-R1, arXiv:2511.19773, §5.2. A trajectory that ends without an answer does not conform.
 */
export const vistaFormat = defineReward({
  name: 'vista-format',
  scope: 'trajectory',
  description: '1 if every turn conforms, −1 if one does not, 0 under repetition.',
  paper: 'VISTA-R1, arXiv:2511.19773, §5.2',
  settings,
  origins: { conforming: 'paper', malformed: 'paper' },
  range: ({ conforming, malformed }) => [
    Math.min(conforming, malformed, -Number.MIN_VALUE),
    Math.max(conforming, malformed, 0),
  ],
  score(trajectory, context, { conforming, malformed }) {
    if (repeats(context)) return 0;
    return isWellFormed(trajectory, context) ? conforming : malformed;
  },
});
