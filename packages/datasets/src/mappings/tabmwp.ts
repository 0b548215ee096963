/** TABMWP: problems of arithmetic over tables that are drawn as images. */
import { defineMapping } from '../mapping/define-mapping.ts';

export const tabmwp = defineMapping({
  name: 'tabmwp',
  description: 'TABMWP: problems of arithmetic over tables that are drawn as images.',
  sources: ['TABMWP'],
  schemaFrom: 'public code of lupantech/PromptPG',
  isVerified: true,
  declaration: {
    question: '{question} {unit}',
    images: { file: 'tables/{__key__}.png' },
    choices: 'choices',
    answer: { value: 'answer', as: 'choice' },
    metadata: { grade: 'grade', kind: 'ques_type' },
    split: 'split',
  },
});
