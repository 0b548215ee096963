/** A reward for every tool call of a right answer. */
import { countToolCalls } from '@saccade/trajectory';
import { defineReward } from '../define-reward.ts';

/**
 * Number of tool calls, if the final answer is right.
 *
 *   R_tool = n_tc · 1{correct}
 *
 * PyVision-RL, arXiv:2602.20739, eq. 1, with weight 0.1. As in its code, n_tc counts the executions
 * that ran without an error and were followed by another turn.
 */
export const accumulativeTool = defineReward({
  name: 'accumulative-tool',
  scope: 'trajectory',
  description: 'The number of tool calls if the final answer is right, else 0.',
  paper: 'arXiv:2602.20739, eq. 1',
  range: [0, Number.POSITIVE_INFINITY],
  score: (trajectory, context) => (context.isCorrect ? countToolCalls(trajectory) : 0),
});
