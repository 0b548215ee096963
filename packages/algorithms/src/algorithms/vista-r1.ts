/** The objective of VISTA-R1. */
import type { Algorithm } from '../algorithm.ts';
import { composeAlgorithm } from '../compose.ts';
import { groupRelative, groupRelativeSettings } from '../group-relative.ts';
import { paperGroup, verlGroup } from '../profiles.ts';
import { clipped } from '../surrogates/clipped.ts';

/**
 * VISTA-R1 trains with GRPO, with equal weight for every sequence, and a KL term of 1e-3. The paper
 * gives no clip range (0.2 is verl's) and no estimate of KL.
 */
export const vistaR1: Algorithm = composeAlgorithm({
  name: 'vista-r1',
  paper: 'arXiv:2511.19773',
  description: 'GRPO with every sequence weighing the same and a little KL.',
  settings: { ...groupRelativeSettings, ...clipped.settings },
  defaults: { aggregation: 'sequence-mean-token-mean', klCoefficient: 1e-3 },
  profiles: {
    paper: paperGroup,
    verl: { ...verlGroup, aggregation: 'sequence-mean-token-mean' },
  },
  choose: (settings) => ({ ...groupRelative(settings), surrogate: clipped(settings) }),
});
