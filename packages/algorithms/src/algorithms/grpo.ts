/** Group relative policy optimization. */
import type { Algorithm } from '../algorithm.ts';
import { composeAlgorithm } from '../compose.ts';
import { groupRelative, groupRelativeSettings } from '../group-relative.ts';
import { paperGroup, trlGroup, verlGroup } from '../profiles.ts';
import { clipped } from '../surrogates/clipped.ts';

/**
 * DeepSeekMath, eq. 3. The paper weighs KL with 0.04; TRL, verl and the systems built on them leave
 * the reference policy out, and so does the default here. The paper gives no clip range: 0.2 is
 * PPO's. verl's default aggregation is `token-mean`, and it always has a dual clip of 3. TRL's
 * default loss is `dapo`; the profile is its `grpo`.
 */
export const grpo: Algorithm = composeAlgorithm({
  name: 'grpo',
  paper: 'arXiv:2402.03300',
  description:
    'Rewards standardized within the group, clipped ratios, equal weight for every sequence.',
  settings: { ...groupRelativeSettings, ...clipped.settings },
  defaults: { aggregation: 'sequence-mean-token-mean' },
  profiles: {
    paper: { ...paperGroup, klCoefficient: 0.04 },
    verl: verlGroup,
    trl: trlGroup,
  },
  choose: (settings) => ({ ...groupRelative(settings), surrogate: clipped(settings) }),
});
