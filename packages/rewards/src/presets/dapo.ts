/** The reward of DAPO: the answer, and a soft penalty for long responses. */
import { definePreset, term } from '../preset.ts';
import { overlong } from '../rewards/overlong.ts';
import { signedAccuracy } from '../rewards/signed-accuracy.ts';

const about = {
  paper: 'DAPO, arXiv:2503.14476',
  description: 'R = ±1 + a penalty over the last tokens before the longest length',
};

/**
 *   R = 1 or −1, and R_length
 *
 * arXiv:2503.14476, eq. 7 and 13.
 */
export const dapo = definePreset({
  name: 'dapo',
  ...about,
  terms: [
    term(signedAccuracy.with({ right: 1, wrong: -1 }, 'paper'), 1, 'paper'),
    term(overlong, 1, 'paper'),
  ],
});

/** As verl computes it: the penalty keeps growing beyond the longest length. */
export const dapoCode = definePreset({
  name: 'dapo/code',
  ...about,
  terms: [
    term(signedAccuracy.with({ right: 1, wrong: -1 }, 'code'), 1, 'code'),
    term(
      overlong.with({ maxTokens: 20_480, bufferTokens: 4096, isCapped: false }, 'code'),
      1,
      'code',
    ),
  ],
});
