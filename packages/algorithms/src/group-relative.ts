/** The settings that GRPO and its relatives share, and the units they lead to. */
import { choice } from '@saccade/core/settings';
import { groupMean } from './advantages/group-mean.ts';
import { groupStd } from './advantages/group-std.ts';
import type { Choices, Surrogate } from './choices.ts';
import { clipped } from './surrogates/clipped.ts';
import { logProbability } from './surrogates/log-probability.ts';
import { batchStd } from './token-advantages/batch-std.ts';
import type { ValuesOf } from './unit.ts';

export const scale = choice(['none', 'group', 'batch'], {
  default: 'group',
  about: 'Whose standard deviation divides the rewards.',
});

/** How rewards are scaled. */
export const groupRelativeSettings = { scale, ...groupStd.settings };

/** Advantages centered in the group and scaled by the group's or the batch's std, or not at all. */
export function groupRelative(
  settings: ValuesOf<typeof groupRelativeSettings>,
): Pick<Choices, 'groupAdvantage' | 'tokenAdvantage'> {
  if (settings.scale === 'group') return { groupAdvantage: groupStd(settings) };
  const groupAdvantage = groupMean(settings);
  if (settings.scale === 'none') return { groupAdvantage };
  return { groupAdvantage, tokenAdvantage: batchStd(settings) };
}

/** The choice between the plain policy gradient and the clipped surrogate, with its clip. */
export const gradientOrClipSettings = {
  ...clipped.settings,
  surrogate: choice(['log-probability', 'clipped'], {
    default: 'clipped',
    about: 'The plain policy gradient, for one update per step, or the clipped surrogate.',
  }),
};

/** The plain policy gradient of one update per step, or the clipped surrogate of several. */
export function gradientOrClip(settings: ValuesOf<typeof gradientOrClipSettings>): Surrogate {
  return settings.surrogate === 'clipped' ? clipped(settings) : logProbability();
}
