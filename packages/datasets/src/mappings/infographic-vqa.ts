/** InfographicVQA: questions about posters of text, charts and drawings. */
import { defineMapping } from '../mapping/define-mapping.ts';

export const infographicVqa = defineMapping({
  name: 'infographic-vqa',
  description: 'InfographicVQA: questions about posters of text, charts and drawings.',
  sources: ['lmms-lab/DocVQA'],
  schemaFrom: 'its task in lmms-eval',
  isVerified: true,
  declaration: {
    question: 'question',
    images: 'image',
    answer: { value: 'answers', as: 'all' },
    metadata: { questionId: 'questionId' },
  },
});
