/** UniGeo: calculations and proofs of plane geometry. */
import { defineMapping } from '../mapping/define-mapping.ts';

export const unigeo = defineMapping({
  name: 'unigeo',
  description: 'UniGeo: calculations and proofs of plane geometry.',
  sources: ['UniGeo'],
  schemaFrom: 'public code of chen-judge/UniGeo, whose files are pickles: convert them first',
  isVerified: true,
  declaration: {
    question: 'English_problem',
    images: 'image',
    choices: 'choice_nums',
    answer: { value: 'label', as: 'index' },
  },
});
