/** The soft penalty for long responses as verl has it. */
import { type Sourced, sourced, type Variants, valuesOf } from '../provenance.ts';
import type { Reward } from '../reward.ts';
import { modelTokenCount } from './model-text.ts';
import { checkOverlong, type OverlongOptions, softOverlong } from './overlong.ts';

export const overlongUncappedVariants: Variants<OverlongOptions> = {
  paper: { maxTokens: sourced(20_480, 'paper'), cacheTokens: sourced(4096, 'paper') },
  code: { maxTokens: sourced(20_480, 'code'), cacheTokens: sourced(4096, 'code') },
};

/**
 *   min(0, (L_max − L_cache − length)/L_cache)
 *
 * DAPO, arXiv:2503.14476, eq. 13, as in verl: it falls on below −1, which the engine's length limit
 * keeps from happening where a response has one turn.
 */
export function overlongUncappedWith(constants: Sourced<OverlongOptions>): Reward {
  checkOverlong(constants);
  const options = valuesOf(constants);
  return {
    name: 'overlong-uncapped',
    scope: 'trajectory',
    paper: 'DAPO, arXiv:2503.14476, eq. 13; verl',
    range: [Number.NEGATIVE_INFINITY, 0],
    constants: { ...constants },
    with: (changed) =>
      overlongUncappedWith({ ...constants, ...changed } as Sourced<OverlongOptions>),
    score: (trajectory) => softOverlong(modelTokenCount(trajectory), options),
  };
}

export const overlongUncapped: Reward = overlongUncappedWith(overlongUncappedVariants.paper);
