/** Qwen2 and Qwen2.5 (arXiv:2407.10671, arXiv:2412.15115), text only. */
import { textArchitecture } from '../models/text-model.ts';

export const qwen2 = textArchitecture({
  name: 'qwen2',
  description: 'Qwen2 and Qwen2.5, text only: biases on queries, keys and values.',
  className: 'Qwen2ForCausalLM',
});
