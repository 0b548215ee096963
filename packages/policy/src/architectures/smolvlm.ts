/** SmolVLM and SmolVLM2 (arXiv:2504.05299): Idefics3 in small. */
import { idefics3Architecture } from '../models/idefics3-model.ts';

export const smolvlm = idefics3Architecture({
  name: 'smolvlm',
  description: 'SmolVLM: SigLIP over tiles, pixel shuffle, and a small Llama.',
  className: 'SmolVLMForConditionalGeneration',
});
