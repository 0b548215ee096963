/** The objective of CodeV: tool-aware policy optimization. */
import type { Algorithm } from '../algorithm.ts';
import { composeAlgorithm } from '../compose.ts';
import { groupRelative, groupRelativeSettings } from '../group-relative.ts';
import { paperGroup, verlGroup } from '../profiles.ts';
import { clipped } from '../surrogates/clipped.ts';

/**
 * Several methods are called TAPO; this is CodeV's. The paper subtracts the group's mean and has a
 * KL term whose β it does not print; it prints the ratio against π_ref, which is the policy that
 * sampled only in the first update, and we take the policy at the start of the step, as its code
 * does. The code divides by the standard deviation, has no KL and verl's dual clip. The reward of
 * tool outputs is a reward.
 */
export const tapo: Algorithm = composeAlgorithm({
  name: 'tapo',
  paper: 'arXiv:2511.19661',
  description: 'Rewards minus the group mean, clipped ratios, every token weighing the same.',
  settings: { ...groupRelativeSettings, ...clipped.settings },
  defaults: { scale: 'none' },
  profiles: {
    paper: paperGroup,
    verl: { ...verlGroup, scale: 'group' },
  },
  choose: (settings) => ({ ...groupRelative(settings), surrogate: clipped(settings) }),
});
