/** The soft penalty for long responses. */
import { DataError } from '@saccade/core';
import { count, flag, type SettingsOf } from '@saccade/core/settings';
import { z } from 'zod';
import { defineReward } from '../define-reward.ts';
import { modelTokenCount } from './model-text.ts';

const settings = z
  .strictObject({
    maxTokens: count({
      min: 1,
      max: 10_000_000,
      default: 20_480,
      unit: 'tokens',
      about: 'L_max: tokens that the model may write in all its turns.',
    }),
    bufferTokens: count({
      min: 1,
      max: 10_000_000,
      default: 4096,
      unit: 'tokens',
      about: 'L_cache: the penalty starts this many tokens before maxTokens.',
    }),
    isCapped: flag({
      default: true,
      about: 'Whether the penalty stays at −1 beyond maxTokens, or keeps growing.',
    }),
  })
  .refine(({ maxTokens, bufferTokens }) => bufferTokens <= maxTokens, {
    path: ['bufferTokens'],
    message: 'at most maxTokens',
  });

/**
 * The settings of `overlong`: L_max and L_cache in tokens, and whether the penalty is capped at
 * −1.
 */
export type OverlongSettings = SettingsOf<typeof settings>;

/**
 * Penalty of a response of `length` tokens.
 *
 *   (L_max − L_cache − length)/L_cache, at most 0;   capped: at least −1
 */
export function softOverlong(
  length: number,
  { maxTokens, bufferTokens, isCapped }: OverlongSettings,
): number {
  const penalty = Math.min(0, (maxTokens - bufferTokens - length) / bufferTokens);
  return isCapped ? Math.max(-1, penalty) : penalty;
}

/**
 * A penalty that grows linearly over the last `bufferTokens` before `maxTokens`.
 *
 *   max(−1, min(0, (L_max − L_cache − length)/L_cache))
 *
 * DAPO, arXiv:2503.14476, eq. 13, as TRL computes it. verl does not cap it at −1 (`isCapped: false`);
 * with one turn per response the engine's length limit has the same effect.
 */
export const overlong = defineReward({
  name: 'overlong',
  scope: 'trajectory',
  description: 'A penalty that grows as a response nears its longest length.',
  paper: 'DAPO, arXiv:2503.14476, eq. 13',
  settings,
  origins: { maxTokens: 'paper', bufferTokens: 'paper', isCapped: 'paper' },
  range: ({ isCapped }) => [isCapped ? -1 : Number.NEGATIVE_INFINITY, 0],
  score(trajectory, _, values) {
    if (trajectory.tokenSource === 'bytes') {
      throw new DataError(
        `Trajectory ${trajectory.id} was made from text without a tokenizer, so its tokens cannot ` +
          'be counted. Pass `encode`.',
      );
    }
    return softOverlong(modelTokenCount(trajectory), values);
  },
});
