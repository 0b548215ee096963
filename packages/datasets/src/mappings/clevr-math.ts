/** CLEVR-Math: sums and differences over rendered scenes. */
import { defineMapping } from '../mapping/define-mapping.ts';

export const clevrMath = defineMapping({
  name: 'clevr-math',
  description: 'CLEVR-Math: sums and differences over rendered scenes.',
  sources: ['dali-does/clevr-math'],
  schemaFrom: 'arXiv:2208.05358 and the loading script of dali-does/clevr-math',
  isVerified: false,
  declaration: {
    question: 'question',
    images: 'image',
    answer: 'label',
    metadata: { template: 'template' },
  },
});
