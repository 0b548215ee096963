/** GRPO with credit for each turn. */
import { groupMean, type Singleton } from '../advantages/group-mean.ts';
import { groupStd } from '../advantages/group-std.ts';
import type { Algorithm } from '../algorithm.ts';
import { composeAlgorithm } from '../compose.ts';
import { clipSettings, groupRelativeSettings } from '../group-relative.ts';
import { paperGroup } from '../profiles.ts';
import { sharedSettings } from '../settings.ts';
import { clipped } from '../surrogates/clipped.ts';
import { turnGroups } from '../token-advantages/turn-groups.ts';

/**
 * GiGPO compares steps that start from the same state; here the number of the turn is the state.
 */
export const gigpo: Algorithm = composeAlgorithm({
  name: 'gigpo',
  paper: 'arXiv:2505.10978',
  description: 'Group advantages of the trajectory plus those of each turn.',
  settings: {
    ...sharedSettings,
    ...groupRelativeSettings,
    ...clipSettings,
    turnDiscount: 0.95,
    turnWeight: 1,
  },
  profiles: {
    paper: paperGroup,
  },
  choose: (settings) => {
    const { stdEpsilon: epsilon, stdDof: ddof, turnDiscount, turnWeight } = settings;
    const isScaled = settings.scale !== 'none';
    const singleton = settings.singleton as Singleton;
    return {
      groupAdvantage: isScaled ? groupStd({ epsilon, ddof, singleton }) : groupMean({ singleton }),
      tokenAdvantage: turnGroups({ turnDiscount, turnWeight, epsilon, ddof, isScaled }),
      needs: ['turns', 'turnOffsets', 'turnRewards'],
      surrogate: clipped(settings),
    };
  },
});
