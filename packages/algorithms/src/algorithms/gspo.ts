/** Group sequence policy optimization. */
import type { Algorithm } from '../algorithm.ts';
import { composeAlgorithm } from '../compose.ts';
import { groupRelative, groupRelativeSettings } from '../group-relative.ts';
import { paperGroup, trlGroup, verlOwnAggregation } from '../profiles.ts';
import { clipped } from '../surrogates/clipped.ts';

/**
 * GSPO clips the ratio of whole sequences, very tightly. verl gives it each token's own gradient
 * (equal where a sequence has one advantage), bounds log s at 10, always takes
 * `sequence-mean-token-mean` and leaves the clip at 0.2; TRL has the true gradient and no bound.
 */
export const gspo: Algorithm = composeAlgorithm({
  name: 'gspo',
  paper: 'arXiv:2507.18071',
  description: 'Clipped ratios of whole sequences, normalised by length.',
  settings: { ...groupRelativeSettings, ...clipped.settings },
  defaults: {
    clipLow: 3e-4,
    clipHigh: 4e-4,
    ratio: 'sequence',
    maxLogRatio: 10,
    aggregation: 'sequence-mean-token-mean',
  },
  profiles: {
    paper: paperGroup,
    verl: {
      ...verlOwnAggregation,
      ratio: 'sequence-straight-through',
      maxLogRatio: 10,
      dualClip: 0,
      clipLow: 0.2,
      clipHigh: 0.2,
      aggregation: 'sequence-mean-token-mean',
    },
    trl: trlGroup,
  },
  choose: (settings) => ({ ...groupRelative(settings), surrogate: clipped(settings) }),
});
