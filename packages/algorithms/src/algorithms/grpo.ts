/** Group relative policy optimisation. */
import { groupStd } from '../advantages/group-std.ts';
import { sequenceMeanTokenMean } from '../aggregations/sequence-mean-token-mean.ts';
import type { Algorithm } from '../algorithm.ts';
import { k3 } from '../kl/k3.ts';
import { composeAlgorithm } from '../loss.ts';
import { tokenRatio } from '../ratios/token.ts';
import { clipped } from '../surrogates/clipped.ts';

/**
 * DeepSeekMath, eq. 3. The paper weighs KL with 0.04; TRL, verl and the systems built on them leave
 * the reference policy out, and so does the default here. The paper gives no clip range: 0.2 is
 * PPO's.
 */
export const grpo: Algorithm = composeAlgorithm({
  name: 'grpo',
  paper: 'arXiv:2402.03300',
  description:
    'Rewards standardised within the group, clipped ratios, every sequence weighs the same.',
  settings: { clipLow: 0.2, clipHigh: 0.2, klCoefficient: 0, entropyCoefficient: 0 },
  choose: ({ clipLow, clipHigh }) => ({
    advantage: groupStd(),
    ratio: tokenRatio(),
    surrogate: clipped({ clipLow, clipHigh }),
    kl: k3,
    aggregation: sequenceMeanTokenMean(),
  }),
});
