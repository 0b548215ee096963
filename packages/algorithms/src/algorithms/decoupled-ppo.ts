/** Clipped against a recent policy, weighted back to the one that sampled. */
import type { Algorithm } from '../algorithm.ts';
import { composeAlgorithm } from '../compose.ts';
import { groupRelative, groupRelativeSettings } from '../group-relative.ts';
import { paperGroup } from '../profiles.ts';
import { clipped } from '../surrogates/clipped.ts';

/**
 * AReaL's objective for asynchronous rollouts: oldLogprobs are those of the proximal policy (the
 * trainer at the start of the step), rolloutLogprobs those of the policy that sampled.
 */
export const decoupledPpo: Algorithm = composeAlgorithm({
  name: 'decoupled-ppo',
  paper: 'arXiv:2505.24298',
  description: 'Ratios clipped against a recent policy, weighted back to the one that sampled.',
  settings: { ...groupRelativeSettings, ...clipped.settings },
  defaults: { ratio: 'decoupled' },
  profiles: {
    paper: paperGroup,
  },
  choose: (settings) => ({ ...groupRelative(settings), surrogate: clipped(settings) }),
});
