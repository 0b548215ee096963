/** The reward of PyVision-RL. */
import { definePreset, term } from '../preset.ts';
import { accumulativeTool } from '../rewards/accumulative-tool.ts';
import { accuracy } from '../rewards/accuracy.ts';

const about = {
  paper: 'PyVision-RL, arXiv:2602.20739',
  description: 'R = R_acc + 0.1·n_tc·1{right}',
  notes: ['n_tc counts executions without an error that another turn followed (from its code).'],
};

/**
 *   R = R_acc + 0.1 · n_tc · 1{R_acc = 1}
 *
 * arXiv:2602.20739, eq. 1. With four tool turns the largest reward is 1.4.
 */
export const pyvision = definePreset({
  name: 'pyvision',
  ...about,
  terms: [term(accuracy, 1, 'paper'), term(accumulativeTool, 0.1, 'paper')],
});

/** The same numbers in its public code. */
export const pyvisionCode = definePreset({
  name: 'pyvision/code',
  ...about,
  terms: [term(accuracy, 1, 'code'), term(accumulativeTool, 0.1, 'code')],
});
