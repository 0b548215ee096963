/** Idefics3 (arXiv:2408.12637). */
import { idefics3Architecture } from '../models/idefics3-model.ts';

export const idefics3 = idefics3Architecture({
  name: 'idefics3',
  description: 'Idefics3: SigLIP over tiles, pixel shuffle, and Llama.',
  className: 'Idefics3ForConditionalGeneration',
});
