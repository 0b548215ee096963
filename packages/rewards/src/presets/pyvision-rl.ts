/** The reward of PyVision-RL. */
import { accumulativeTool } from '../rewards/accumulative-tool.ts';
import { accuracy } from '../rewards/accuracy.ts';
import type { RewardTerm } from '../score.ts';

/**
 * The terms of PyVision-RL's reward.
 *
 *   R = R_acc + toolCoefficient · n_tc · 1{R_acc = 1}
 *
 * arXiv:2602.20739, eq. 1, with 0.1. With four tool turns the largest reward is 1.4.
 */
export function pyvisionRlTerms(options: { toolCoefficient?: number } = {}): readonly RewardTerm[] {
  const { toolCoefficient = 0.1 } = options;
  return [
    { reward: accuracy, weight: 1 },
    { reward: accumulativeTool, weight: toolCoefficient },
  ];
}
