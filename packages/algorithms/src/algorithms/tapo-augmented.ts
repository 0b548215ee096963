/** The objective of tool-augmented policy optimization. */
import type { Algorithm } from '../algorithm.ts';
import { composeAlgorithm } from '../compose.ts';
import { groupRelative, groupRelativeSettings } from '../group-relative.ts';
import { paperGroup } from '../profiles.ts';
import { clipped } from '../surrogates/clipped.ts';

/**
 * The second paper called TAPO (not CodeV's): DAPO's loss with mask 0 on text that tools wrote.
 */
export const tapoAugmented: Algorithm = composeAlgorithm({
  name: 'tapo-augmented',
  paper: 'arXiv:2510.07038',
  description: 'DAPO over the tokens that the policy wrote itself.',
  settings: { ...groupRelativeSettings, ...clipped.settings },
  defaults: { clipHigh: 0.28 },
  profiles: {
    paper: paperGroup,
  },
  choose: (settings) => ({ ...groupRelative(settings), surrogate: clipped(settings) }),
});
