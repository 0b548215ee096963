/** The objective of CodeDance. */
import type { Singleton } from '../advantages/group-mean.ts';
import { groupStd } from '../advantages/group-std.ts';
import type { Algorithm } from '../algorithm.ts';
import { composeAlgorithm } from '../compose.ts';
import { clipSettings } from '../group-relative.ts';
import { paperGroup, verlGroup } from '../profiles.ts';
import { sharedSettings } from '../settings.ts';
import { clipped } from '../surrogates/clipped.ts';
import { turnReturnsStandardised } from '../token-advantages/turn-returns.ts';

/**
 * CodeDance adds to GRPO's advantage that of the turn, from failed executions. The paper prints no
 * weight between the two (1 in the profile `paper`), its code has 0.2; trained with verl. The
 * tool reward that depends on the group's accuracy is a reward.
 */
export const codedance: Algorithm = composeAlgorithm({
  name: 'codedance',
  paper: 'arXiv:2512.17312',
  description: 'GRPO plus standardised returns of failed executions, turn by turn.',
  settings: {
    ...sharedSettings,
    ...clipSettings,
    dualClip: 3,
    stdEpsilon: 1e-6,
    stdDof: 1,
    singleton: 'zero',
    turnDiscount: 0.2,
    turnWeight: 0.2,
  },
  profiles: {
    paper: { ...paperGroup, dualClip: 0, turnWeight: 1 },
    verl: verlGroup,
  },
  choose: (settings) => ({
    groupAdvantage: groupStd({
      epsilon: settings.stdEpsilon,
      ddof: settings.stdDof,
      singleton: settings.singleton as Singleton,
    }),
    tokenAdvantage: turnReturnsStandardised(settings),
    needs: ['turns', 'turnOffsets', 'turnRewards'],
    surrogate: clipped(settings),
  }),
});
