/** GRPO for the best of k instead of the mean. */
import { bestOfGroup, leadOfGroup } from '../advantages/best-of-group.ts';
import type { Algorithm } from '../algorithm.ts';
import { composeAlgorithm } from '../compose.ts';
import { scale } from '../group-relative.ts';
import { paperGroup, verlGroup } from '../profiles.ts';
import { clipped } from '../surrogates/clipped.ts';
import { batchStd } from '../token-advantages/batch-std.ts';

/**
 * Only a group's best trajectory is trained on, with its lead over the second. verl's `grpo_passk`.
 * `scale` divides the lead by the standard deviation of the group's rewards, of the step's, or not
 * at all. No advantage is negative, so clipLow and dualClip have no effect.
 */
export const passAtK: Algorithm = composeAlgorithm({
  name: 'pass-at-k',
  paper: 'arXiv:2503.19595',
  description: 'Only the best trajectory of a group learns.',
  settings: { scale, ...bestOfGroup.settings, ...clipped.settings },
  profiles: {
    paper: { ...paperGroup, scale: 'none' },
    verl: verlGroup,
  },
  choose: (settings) => ({
    groupAdvantage: settings.scale === 'group' ? bestOfGroup(settings) : leadOfGroup(),
    ...(settings.scale === 'batch' && { tokenAdvantage: batchStd(settings) }),
    surrogate: clipped(settings),
    unread: ['clipLow', 'dualClip'],
  }),
});
