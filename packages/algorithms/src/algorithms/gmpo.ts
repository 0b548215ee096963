/** Geometric-mean policy optimization. */
import type { Algorithm } from '../algorithm.ts';
import { composeAlgorithm } from '../compose.ts';
import { groupRelative, groupRelativeSettings } from '../group-relative.ts';
import { paperGroup, trlGroup, verlOwnAggregation } from '../profiles.ts';
import { logClipRange } from '../ratios/geometric-mean.ts';
import { unclipped } from '../surrogates/unclipped.ts';

/**
 * GMPO maximizes the geometric mean of the tokens' ratios, each clipped in log space: clipLow and
 * clipHigh are distances of log-ratios from 0. verl averages over all sequences, those without
 * tokens included, and leaves the clip at 0.2; TRL's experimental trainer has the paper's 0.4 and
 * does not weigh KL.
 */
export const gmpo: Algorithm = composeAlgorithm({
  name: 'gmpo',
  paper: 'arXiv:2507.20673',
  description: 'Geometric mean of ratios that are clipped token by token.',
  settings: { ...groupRelativeSettings, ...logClipRange },
  defaults: { ratio: 'geometric-mean', aggregation: 'sequence-mean-token-mean' },
  profiles: {
    paper: paperGroup,
    verl: {
      ...verlOwnAggregation,
      clipLow: 0.2,
      clipHigh: 0.2,
      emptySequences: 'count',
    },
    trl: { ...trlGroup, klImportance: false },
  },
  choose: (settings) => ({ ...groupRelative(settings), surrogate: unclipped() }),
});
