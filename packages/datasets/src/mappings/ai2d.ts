/** AI2D: multiple choice about diagrams of school science. */
import { defineMapping } from '../mapping/define-mapping.ts';

export const ai2d = defineMapping({
  name: 'ai2d',
  description: 'AI2D: multiple choice about diagrams of school science.',
  sources: ['lmms-lab/ai2d', 'lmms-lab-encoder/ai2d'],
  schemaFrom: 'its task in lmms-eval',
  isVerified: true,
  declaration: {
    question: 'question',
    images: 'image',
    choices: 'options',
    answer: { value: 'answer', as: 'index' },
  },
});
