/** Proximal policy optimization with a value function. */
import { rawReward } from '../advantages/raw-reward.ts';
import type { Algorithm } from '../algorithm.ts';
import { composeAlgorithm } from '../compose.ts';
import { paperNumbers, verlNumbers } from '../profiles.ts';
import { clipped } from '../surrogates/clipped.ts';
import { gae } from '../token-advantages/gae.ts';
import { valueTerm } from '../value-loss.ts';

/**
 * The loss has a value term; verl trains its critic with the same term by itself, which is the same
 * where policy and value function share no weights. The paper neither whitens nor clips values; its
 * γ = 0.99 and λ = 0.95 are those of its experiments on control.
 */
export const ppo: Algorithm = composeAlgorithm({
  name: 'ppo',
  paper: 'arXiv:1707.06347',
  description: 'Generalised advantages from a value function, clipped ratios, clipped values.',
  settings: { ...gae.settings, ...clipped.settings, ...valueTerm.settings },
  profiles: {
    paper: { ...paperNumbers, gamma: 0.99, lambda: 0.95, isWhitened: false, valueClip: 0 },
    verl: { ...verlNumbers, dualClip: 3 },
  },
  choose: (settings) => ({
    groupAdvantage: rawReward(),
    tokenAdvantage: gae(settings),
    klReward: 'tokens',
    surrogate: clipped(settings),
    needs: ['values'],
    value: valueTerm(settings),
  }),
});
