/** Soft adaptive policy optimization. */
import type { Algorithm } from '../algorithm.ts';
import { composeAlgorithm } from '../compose.ts';
import { groupRelative, groupRelativeSettings } from '../group-relative.ts';
import { paperGroup, trlGroup, verlOwnAggregation } from '../profiles.ts';
import { sapoSurrogate } from '../surrogates/sapo.ts';

/**
 * SAPO fades tokens out instead of clipping them, faster where the advantage is not positive.
 */
export const sapo: Algorithm = composeAlgorithm({
  name: 'sapo',
  paper: 'arXiv:2511.20347',
  description: 'A smooth gate on the ratio instead of a clip.',
  settings: { ...groupRelativeSettings, ...sapoSurrogate.settings },
  defaults: { aggregation: 'sequence-mean-token-mean' },
  profiles: {
    paper: paperGroup,
    verl: verlOwnAggregation,
    trl: trlGroup,
  },
  choose: (settings) => ({ ...groupRelative(settings), surrogate: sapoSurrogate(settings) }),
});
