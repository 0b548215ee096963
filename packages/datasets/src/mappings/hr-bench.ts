/** HR-Bench: questions about images of 4K and 8K. */
import { defineMapping } from '../mapping/define-mapping.ts';

export const hrBench = defineMapping({
  name: 'hr-bench',
  description: 'HR-Bench: questions about images of 4K and 8K.',
  sources: ['DreamMr/HR-Bench', 'ohjoonhee/HR-Bench'],
  schemaFrom: "the data set's card and its task in lmms-eval",
  isVerified: true,
  declaration: {
    question: 'question',
    images: 'image',
    choices: { columns: ['A', 'B', 'C', 'D'] },
    answer: { value: 'answer', as: 'letter' },
    metadata: { category: 'category', cycle: 'cycle_category', index: 'index' },
  },
});
