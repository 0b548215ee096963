/** The objective of CodeDance. */
import { groupStd } from '../advantages/group-std.ts';
import type { Algorithm } from '../algorithm.ts';
import { composeAlgorithm } from '../compose.ts';
import { paperGroup, verlGroup } from '../profiles.ts';
import { clipped } from '../surrogates/clipped.ts';
import { turnReturnsStandardized } from '../token-advantages/turn-returns.ts';

/**
 * CodeDance adds to GRPO's advantage that of the turn, from failed executions. The paper prints no
 * weight between the two (1 in the profile `paper`), its code has 0.2; trained with verl. The
 * tool reward that depends on the group's accuracy is a reward.
 */
export const codedance: Algorithm = composeAlgorithm({
  name: 'codedance',
  paper: 'arXiv:2512.17312',
  description: 'GRPO plus standardized returns of failed executions, turn by turn.',
  settings: { ...groupStd.settings, ...turnReturnsStandardized.settings, ...clipped.settings },
  defaults: { dualClip: 3, turnDiscount: 0.2, turnWeight: 0.2 },
  profiles: {
    paper: { ...paperGroup, dualClip: 0, turnWeight: 1 },
    verl: verlGroup,
  },
  choose: (settings) => ({
    groupAdvantage: groupStd(settings),
    tokenAdvantage: turnReturnsStandardized(settings),
    needs: ['turns', 'turnOffsets', 'turnRewards'],
    surrogate: clipped(settings),
  }),
});
