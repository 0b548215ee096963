/** GRPO with credit for each turn. */
import { groupMean } from '../advantages/group-mean.ts';
import { groupStd } from '../advantages/group-std.ts';
import type { Algorithm } from '../algorithm.ts';
import { composeAlgorithm } from '../compose.ts';
import { groupRelativeSettings } from '../group-relative.ts';
import { paperGroup } from '../profiles.ts';
import { clipped } from '../surrogates/clipped.ts';
import { turnGroups } from '../token-advantages/turn-groups.ts';

/**
 * GiGPO compares steps that start from the same state; here the number of the turn is the state.
 */
export const gigpo: Algorithm = composeAlgorithm({
  name: 'gigpo',
  paper: 'arXiv:2505.10978',
  description: 'Group advantages of the trajectory plus those of each turn.',
  settings: { ...groupRelativeSettings, ...turnGroups.settings, ...clipped.settings },
  defaults: { turnDiscount: 0.95, turnWeight: 1 },
  profiles: {
    paper: paperGroup,
  },
  choose: (settings) => ({
    groupAdvantage: settings.scale === 'group' ? groupStd(settings) : groupMean(settings),
    tokenAdvantage: turnGroups(settings),
    needs: ['turns', 'turnOffsets', 'turnRewards'],
    surrogate: clipped(settings),
  }),
});
