/** A-OKVQA: multiple choice that needs knowledge of the world. */
import { defineMapping } from '../mapping/define-mapping.ts';

export const aOkvqa = defineMapping({
  name: 'a-okvqa',
  description: 'A-OKVQA: multiple choice that needs knowledge of the world.',
  sources: ['HuggingFaceM4/A-OKVQA'],
  schemaFrom: 'the loading code of LAVIS for its annotations',
  isVerified: true,
  declaration: {
    question: 'question',
    images: 'image',
    choices: 'choices',
    answer: { value: 'correct_choice_idx', as: 'index' },
    metadata: { direct: 'direct_answers' },
  },
});
