/** Group relative policy optimisation. */
import { groupMean, type Singleton } from '../advantages/group-mean.ts';
import { groupStd } from '../advantages/group-std.ts';
import type { Algorithm } from '../algorithm.ts';
import type { Choices } from '../choices.ts';
import { composeAlgorithm } from '../compose.ts';
import { paperNumbers, trlNumbers, verlNumbers } from '../profiles.ts';
import { sharedSettings } from '../settings.ts';
import { clipped } from '../surrogates/clipped.ts';
import { batchStd } from '../token-advantages/batch-std.ts';

/** How GRPO and its kin scale rewards. */
export const groupRelativeSettings = {
  scale: 'group',
  stdEpsilon: 1e-6,
  stdDof: 1,
  singleton: 'zero',
};

/** The clip of PPO, with room for dual clipping. */
export const clipSettings = { clipLow: 0.2, clipHigh: 0.2, dualClip: 0 };

/** Advantages centred in the group and scaled by the group's or the batch's std, or not at all. */
export function groupRelative(settings: typeof groupRelativeSettings): Omit<Choices, 'surrogate'> {
  const { scale, stdEpsilon: epsilon, stdDof: ddof } = settings;
  const singleton = settings.singleton as Singleton;
  if (scale === 'group') return { groupAdvantage: groupStd({ epsilon, ddof, singleton }) };
  const groupAdvantage = groupMean({ singleton });
  if (scale === 'none') return { groupAdvantage };
  return { groupAdvantage, tokenAdvantage: batchStd({ epsilon, ddof }) };
}

/**
 * DeepSeekMath, eq. 3. The paper weighs KL with 0.04; TRL, verl and the systems built on them leave
 * the reference policy out, and so does the default here. The paper gives no clip range: 0.2 is
 * PPO's. verl's default aggregation is `token-mean`, and it always has a dual clip of 3.
 */
export const grpo: Algorithm = composeAlgorithm({
  name: 'grpo',
  paper: 'arXiv:2402.03300',
  description:
    'Rewards standardised within the group, clipped ratios, every sequence weighs the same.',
  settings: {
    ...sharedSettings,
    ...groupRelativeSettings,
    ...clipSettings,
    aggregation: 'sequence-mean-token-mean',
  },
  profiles: {
    paper: { ...paperNumbers, stdEpsilon: 0, klCoefficient: 0.04 },
    verl: {
      ...verlNumbers,
      stdEpsilon: 1e-6,
      singleton: 'reward',
      dualClip: 3,
      aggregation: 'token-mean',
    },
    trl: { ...trlNumbers, stdEpsilon: 1e-4 },
  },
  choose: (settings) => ({ ...groupRelative(settings), surrogate: clipped(settings) }),
});
