/** The reward that pays for every tool call of a right answer. */
import { countToolCalls } from '@saccade/trajectory';
import type { Reward } from '../reward.ts';

/**
 * Number of tool calls, if the final answer is right.
 *
 *   R_tool = n_tc · 1{correct}
 *
 * PyVision-RL, arXiv:2602.20739, eq. 1, where it weighs 0.1. As in its code n_tc counts the
 * executions that ran without error and were followed by another turn.
 */
export const accumulativeTool: Reward = {
  name: 'accumulative-tool',
  scope: 'trajectory',
  paper: 'arXiv:2602.20739, eq. 1',
  range: [0, Number.POSITIVE_INFINITY],
  score: (trajectory, context) => (context.isCorrect ? countToolCalls(trajectory) : 0),
};
