/** GRPO done right: without the biases of length and difficulty. */
import type { Algorithm } from '../algorithm.ts';
import { composeAlgorithm } from '../compose.ts';
import { groupRelative, groupRelativeSettings } from '../group-relative.ts';
import { paperGroup, trlGroup, verlGroup } from '../profiles.ts';
import { clipped } from '../surrogates/clipped.ts';

/**
 * Dr. GRPO divides neither by the group's standard deviation nor by the sequence's length, but by a
 * constant: set `fixedLength` to the most tokens a trajectory may have. TRL's `dr_grpo` takes
 * max_completion_length (512 by default) and leaves the std to `scale_rewards: none`; verl's
 * `seq-mean-token-sum-norm` the padded length.
 */
export const drGrpo: Algorithm = composeAlgorithm({
  name: 'dr-grpo',
  paper: 'arXiv:2503.20783',
  description: 'Rewards minus the group mean, summed over tokens and divided by a constant length.',
  settings: { ...groupRelativeSettings, ...clipped.settings },
  defaults: { scale: 'none', aggregation: 'fixed-length', fixedLength: 1024 },
  profiles: {
    paper: paperGroup,
    verl: { ...verlGroup, aggregation: 'fixed-length' },
    trl: { ...trlGroup, fixedLength: 512 },
  },
  choose: (settings) => ({ ...groupRelative(settings), surrogate: clipped(settings) }),
});
