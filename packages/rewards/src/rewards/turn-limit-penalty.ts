/** CodeVision's penalty for more tool calls than a task needs. */
import { count, flag } from '@saccade/core/settings';
import { z } from 'zod';
import { defineReward } from '../define-reward.ts';
import { toolRecord } from './core-tools.ts';

const settings = z.strictObject({
  spareTurns: count({
    min: 0,
    max: 1000,
    default: 1,
    unit: 'calls',
    about: 'Free calls beyond the number of required tools.',
  }),
  leastTurns: count({
    min: 0,
    max: 1000,
    default: 0,
    unit: 'calls',
    about: 'Calls that are free in any case.',
  }),
  isLinear: flag({
    default: false,
    about: 'Whether every further call counts, or all of them once.',
  }),
});

/**
 * Negative for tool calls beyond those that the N required tools take.
 *
 *   paper: −1{calls > N + 1};   code: −max(0, calls − max(2, N))
 *
 * CodeVision, arXiv:2512.03746, §3.3.2 (constraint penalties), weight 0.5. 0 for a task that does not
 * say which tools it requires.
 */
export const turnLimitPenalty = defineReward({
  name: 'turn-limit-penalty',
  scope: 'trajectory',
  description: 'Negative for more tool calls than the required tools take.',
  paper: 'CodeVision, arXiv:2512.03746, §3.3.2',
  settings,
  origins: { spareTurns: 'paper', leastTurns: 'paper', isLinear: 'paper' },
  range: ({ isLinear }) => [isLinear ? Number.NEGATIVE_INFINITY : -1, 0],
  score(trajectory, context, { spareTurns, leastTurns, isLinear }) {
    const { facts, callCount } = toolRecord(trajectory, context);
    if (facts.requiredTools === undefined) return 0;
    const free = Math.max(leastTurns, facts.requiredTools.length + spareTurns);
    const excess = Math.max(0, callCount - free);
    if (excess === 0) return 0;
    return isLinear ? -excess : -1;
  },
});
