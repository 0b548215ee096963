/** The reward of DeepEyes, for comparison. */
import { definePreset, term } from '../preset.ts';
import { accuracy } from '../rewards/accuracy.ts';
import { conditionalTool } from '../rewards/conditional-tool.ts';
import { formatCodedance } from '../rewards/format-codedance.ts';

const definition = {
  paper: 'DeepEyes, arXiv:2505.14362',
  description: 'R = 0.8·R_acc + 0.2·R_format + 1.2·1{right with a tool}',
  terms: [
    term(accuracy, 0.8, 'code'),
    term(formatCodedance, 0.2, 'code'),
    term(conditionalTool, 1.2, 'code'),
  ],
  notes: ['Format −1 or 0 by the rules that CodeDance took over.'],
};

/**
 *   R = 0.8·R_acc + 0.2·R_format + 1.2·1{right with a tool}
 *
 * arXiv:2505.14362; the weights are its code's.
 */
export const deepeyes = definePreset({ name: 'deepeyes', ...definition });

/** The same: the numbers are the code's. */
export const deepeyesCode = definePreset({ name: 'deepeyes/code', ...definition });
