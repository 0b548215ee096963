/** IconQA: questions about abstract diagrams, with choices of text. */
import { defineMapping } from '../mapping/define-mapping.ts';

export const iconqa = defineMapping({
  name: 'iconqa',
  description: 'IconQA: questions about abstract diagrams, with choices of text.',
  sources: ['lmms-lab/ICON-QA', 'lmms-lab-encoder/ICON-QA'],
  schemaFrom: 'its task in lmms-eval',
  isVerified: true,
  declaration: {
    question: 'question',
    images: [
      'query_image',
      { value: 'choice_image_0', optional: true },
      { value: 'choice_image_1', optional: true },
      { value: 'choice_image_2', optional: true },
      { value: 'choice_image_3', optional: true },
      { value: 'choice_image_4', optional: true },
    ],
    choices: { value: 'choices', separator: ',' },
    answer: 'answer',
    metadata: { kind: 'ques_type' },
  },
});
