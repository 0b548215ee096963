/** The reward of VISTA-R1. */
import { type RewardPreset, term } from '../preset.ts';
import { repetitionVariants, repetitionWith } from '../rewards/repetition.ts';
import { vistaCorrectness } from '../rewards/vista-correctness.ts';
import { vistaFormat } from '../rewards/vista-format.ts';

/**
 *   R = R_rep + R_format + R_correct
 *
 * arXiv:2511.19773, §5.2; each term is 0 where an earlier one speaks. Values: −3, −2, −1.5, −1, 1, 2.
 */
export const vista: RewardPreset = {
  name: 'vista',
  paper: 'VISTA-R1, arXiv:2511.19773',
  description: 'R = R_rep + R_format + R_correct, one after another',
  variants: {
    paper: [
      term(repetitionWith(repetitionVariants.paper), 1, 'paper'),
      term(vistaFormat, 1, 'paper'),
      term(vistaCorrectness, 1, 'paper'),
    ],
    code: [
      term(repetitionWith(repetitionVariants.code), 1, 'paper'),
      term(vistaFormat, 1, 'paper'),
      term(vistaCorrectness, 1, 'paper'),
    ],
  },
  notes: [
    'The RL code is not published: both variants are the paper’s.',
    'Its ablations: vista-dense, vista-sparse, vista-difficulty.',
  ],
};
