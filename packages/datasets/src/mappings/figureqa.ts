/** FigureQA: yes or no about synthetic plots, from its original files. */
import { defineMapping } from '../mapping/define-mapping.ts';

export const figureqa = defineMapping({
  name: 'figureqa',
  description: 'FigureQA: yes or no about synthetic plots, from its original files.',
  sources: ['FigureQA'],
  schemaFrom: 'arXiv:1710.07300 and the release notes of the data',
  isVerified: false,
  declaration: {
    question: 'question_string',
    images: { file: 'png/{image_index}.png' },
    answer: { value: 'answer', words: { '0': 'No', '1': 'Yes' } },
    metadata: { kind: 'question_id' },
  },
});
