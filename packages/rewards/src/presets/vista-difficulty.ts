/** The difficulty reward of VISTA-R1's ablation. */
import { definePreset, term } from '../preset.ts';
import { repetition } from '../rewards/repetition.ts';
import { vistaDifficulty as reward } from '../rewards/vista-difficulty.ts';
import { vistaFormat } from '../rewards/vista-format.ts';

/**
 *   R_diff = R·w, w from 1 to ½ as the group’s mean reward grows from 1 to 2
 *
 * arXiv:2511.19773, §6.3. The terms of weight 0 add nothing: they hold the settings by which
 * the reward R is computed.
 */
export const vistaDifficulty = definePreset({
  name: 'vista-difficulty',
  paper: 'VISTA-R1, arXiv:2511.19773, §6.3',
  description: 'R_diff = R·w, w from 1 to ½ as the group’s mean reward grows from 1 to 2',
  terms: [term(reward, 1, 'paper'), term(repetition, 0, 'ours'), term(vistaFormat, 0, 'ours')],
});
