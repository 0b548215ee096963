/** V*: visual search over large photographs, choices in the text. */
import { defineMapping } from '../mapping/define-mapping.ts';

export const vStar = defineMapping({
  name: 'v-star',
  description: 'V*: visual search over large photographs, choices in the text.',
  sources: ['craigwu/vstar_bench', 'lmms-lab/vstar-bench', 'lmms-lab-encoder/vstar-bench'],
  schemaFrom: 'its task in lmms-eval, and the repository of its files',
  isVerified: true,
  declaration: {
    question: 'text',
    images: 'image',
    answer: 'label',
    metadata: { category: 'category', id: 'question_id' },
  },
});
