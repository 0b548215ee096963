/** OCRBench: text in scenes, documents, receipts and handwriting. */
import { defineMapping } from '../mapping/define-mapping.ts';

export const ocrbench = defineMapping({
  name: 'ocrbench',
  description: 'OCRBench: text in scenes, documents, receipts and handwriting.',
  sources: ['echo840/OCRBench', 'lmms-lab/OCRBench'],
  schemaFrom: 'the card of its dataset',
  isVerified: true,
  declaration: {
    question: 'question',
    images: 'image',
    answer: { value: 'answer', as: 'all' },
    metadata: { questionType: 'question_type' },
    origin: 'dataset',
  },
});
