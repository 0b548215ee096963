/** Models of text alone. */
import { CheckpointProcessor } from '../checkpoint-processor.ts';
import { defineFamily } from './family.ts';

export const text = defineFamily({
  name: 'text',
  description: 'Qwen2, Qwen2.5 and Qwen3: text alone.',
  processorClasses: [],
  modelTypes: ['qwen2', 'qwen3'],
  open(files, options) {
    return new CheckpointProcessor(files, undefined, options);
  },
});
