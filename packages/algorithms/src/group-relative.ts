/** What GRPO and its kin share: settings, and the choices they lead to. */
import { groupMean, type Singleton } from './advantages/group-mean.ts';
import { groupStd } from './advantages/group-std.ts';
import type { Choices, Surrogate } from './choices.ts';
import { clipped } from './surrogates/clipped.ts';
import { logProbability } from './surrogates/log-probability.ts';
import { batchStd } from './token-advantages/batch-std.ts';

/** How rewards are scaled. */
export const groupRelativeSettings = {
  scale: 'group',
  stdEpsilon: 1e-6,
  stdDof: 1,
  singleton: 'zero',
};

/** The clip of PPO, with room for dual clipping. */
export const clipSettings = { clipLow: 0.2, clipHigh: 0.2, dualClip: 0 };

/** Advantages centred in the group and scaled by the group's or the batch's std, or not at all. */
export function groupRelative(
  settings: typeof groupRelativeSettings,
): Pick<Choices, 'groupAdvantage' | 'tokenAdvantage'> {
  const { scale, stdEpsilon: epsilon, stdDof: ddof } = settings;
  const singleton = settings.singleton as Singleton;
  if (scale === 'group') return { groupAdvantage: groupStd({ epsilon, ddof, singleton }) };
  const groupAdvantage = groupMean({ singleton });
  if (scale === 'none') return { groupAdvantage };
  return { groupAdvantage, tokenAdvantage: batchStd({ epsilon, ddof }) };
}

/** The plain policy gradient of one update per step, or the clipped surrogate of several. */
export function gradientOrClip(settings: typeof clipSettings & { surrogate: string }): Surrogate {
  return settings.surrogate === 'clipped' ? clipped(settings) : logProbability();
}
