/** CodeVision's penalty for turning an image that stands upright. */
import { flag } from '@saccade/core/settings';
import { z } from 'zod';
import { defineReward } from '../define-reward.ts';
import { orientationTools, toolRecord } from './core-tools.ts';

const settings = z.strictObject({
  forAnyUpright: flag({
    default: false,
    about: 'Whether it is about tasks that require no turn or flip, or no tool at all.',
  }),
  isCounted: flag({
    default: false,
    about: 'Whether every different turn or flip counts, or all of them once.',
  }),
});

/**
 * Negative for turns and flips where none is called for.
 *
 *   paper: −1{nothing required, a turn or flip attempted};   code: −|different turns and flips|
 *
 * CodeVision, arXiv:2512.03746, §3.3.2 (constraint penalties: "any attempt"), weight 0.5. An attempt
 * counts if it is possible: in a call that failed, behind a condition that cannot be decided, in text
 * that is run as code. 0 for a task that does not say which tools it requires.
 */
export const inappropriateToolPenalty = defineReward({
  name: 'inappropriate-tool-penalty',
  scope: 'trajectory',
  description: 'Negative for any attempt to turn or flip an image that needs none.',
  paper: 'CodeVision, arXiv:2512.03746, §3.3.2',
  settings,
  origins: { forAnyUpright: 'paper', isCounted: 'paper' },
  range: ({ isCounted }) => [isCounted ? -orientationTools.size : -1, 0],
  score(trajectory, context, { forAnyUpright, isCounted }) {
    const { facts, attempted, mayHaveTurned } = toolRecord(trajectory, context);
    const { requiredTools } = facts;
    if (requiredTools === undefined) return 0;
    const isUpright = forAnyUpright
      ? !requiredTools.some((kind) => orientationTools.has(kind))
      : requiredTools.length === 0;
    if (!isUpright) return 0;
    const known = [...attempted].filter((kind) => orientationTools.has(kind)).length;
    const tried = known === 0 && mayHaveTurned ? 1 : known;
    if (tried === 0) return 0;
    return isCounted ? -tried : -1;
  },
});
