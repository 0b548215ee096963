/** The dense reward of VISTA-R1's ablation. */
import { definePreset, term } from '../preset.ts';
import { repetition } from '../rewards/repetition.ts';
import { vistaDense as reward } from '../rewards/vista-dense.ts';

/**
 *   R_dense = −1 + 0.5·R_f + 0.5·R_c + R_f·R_c
 *
 * arXiv:2511.19773, §6.3. The terms of weight 0 add nothing: they hold the settings by which
 * repeated text counts as malformed.
 */
export const vistaDense = definePreset({
  name: 'vista-dense',
  paper: 'VISTA-R1, arXiv:2511.19773, §6.3',
  description: 'R_dense = −1 + 0.5·R_f + 0.5·R_c + R_f·R_c',
  terms: [term(reward, 1, 'paper'), term(repetition, 0, 'ours')],
});
