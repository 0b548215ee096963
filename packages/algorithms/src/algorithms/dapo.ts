/** Decoupled clip and dynamic sampling policy optimization: its loss. */
import type { Algorithm } from '../algorithm.ts';
import { composeAlgorithm } from '../compose.ts';
import { groupRelative, groupRelativeSettings } from '../group-relative.ts';
import { paperGroup, trlGroup, verlGroup } from '../profiles.ts';
import { clipped } from '../surrogates/clipped.ts';

/**
 * DAPO, eq. 8 and 10. Its sampling of mixed groups is a scheduler; its length penalty is
 * the reward `overlong-capped`. TRL calls its token-mean loss `dapo` and leaves clipHigh at 0.2; so
 * does verl.
 */
export const dapo: Algorithm = composeAlgorithm({
  name: 'dapo',
  paper: 'arXiv:2503.14476',
  description: 'GRPO without KL, with more room above than below, every token weighing the same.',
  settings: { ...groupRelativeSettings, ...clipped.settings },
  defaults: { clipHigh: 0.28 },
  profiles: {
    paper: paperGroup,
    verl: { ...verlGroup, clipHigh: 0.2 },
    trl: { ...trlGroup, clipHigh: 0.2 },
  },
  choose: (settings) => ({ ...groupRelative(settings), surrogate: clipped(settings) }),
});
