/** The reward of VISTA-R1. */
import { definePreset, term } from '../preset.ts';
import { repetition } from '../rewards/repetition.ts';
import { vistaCorrectness } from '../rewards/vista-correctness.ts';
import { vistaFormat } from '../rewards/vista-format.ts';

const definition = {
  paper: 'VISTA-R1, arXiv:2511.19773',
  description: 'R = R_rep + R_format + R_correct, one after another',
  terms: [
    term(repetition, 1, 'paper'),
    term(vistaFormat, 1, 'paper'),
    term(vistaCorrectness, 1, 'paper'),
  ],
  notes: [
    'The RL code is not published: both variants are the paper’s.',
    'Its ablations are the presets vista-dense, vista-sparse and vista-difficulty.',
  ],
};

/**
 *   R = R_rep + R_format + R_correct
 *
 * arXiv:2511.19773, §5.2. Each term is 0 where an earlier one decides, with the settings of that term
 * in the same reward. Values: −3, −2, −1.5, −1, 1, 2.
 */
export const vista = definePreset({ name: 'vista', ...definition });

/** The same: no code is published. */
export const vistaCode = definePreset({ name: 'vista/code', ...definition });
