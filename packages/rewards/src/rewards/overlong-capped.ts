/** The soft penalty for long responses as the paper and TRL have it. */
import { type Sourced, sourced, type Variants, valuesOf } from '../provenance.ts';
import type { Reward } from '../reward.ts';
import { modelTokenCount } from './model-text.ts';
import { checkOverlong, type OverlongOptions, softOverlong } from './overlong.ts';

export const overlongCappedVariants: Variants<OverlongOptions> = {
  paper: { maxTokens: sourced(20_480, 'paper'), cacheTokens: sourced(4096, 'paper') },
  code: { maxTokens: sourced(20_480, 'code'), cacheTokens: sourced(4096, 'code') },
};

/**
 *   max(−1, min(0, (L_max − L_cache − length)/L_cache))
 *
 * DAPO, arXiv:2503.14476, eq. 13, as in TRL: −1 beyond L_max.
 */
export function overlongCappedWith(constants: Sourced<OverlongOptions>): Reward {
  checkOverlong(constants);
  const options = valuesOf(constants);
  return {
    name: 'overlong-capped',
    scope: 'trajectory',
    paper: 'DAPO, arXiv:2503.14476, eq. 13; TRL',
    range: [-1, 0],
    constants: { ...constants },
    with: (changed) => overlongCappedWith({ ...constants, ...changed } as Sourced<OverlongOptions>),
    score: (trajectory) => Math.max(-1, softOverlong(modelTokenCount(trajectory), options)),
  };
}

export const overlongCapped: Reward = overlongCappedWith(overlongCappedVariants.paper);
