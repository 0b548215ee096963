/** Qwen3 (arXiv:2505.09388), text only. */
import { textArchitecture } from '../models/text-model.ts';

export const qwen3 = textArchitecture({
  name: 'qwen3',
  description: 'Qwen3, text only: normalized queries and keys, no biases.',
  className: 'Qwen3ForCausalLM',
});
