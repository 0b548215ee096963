/** TextVQA: questions about text in photographs, with the answers of ten people. */
import { defineMapping } from '../mapping/define-mapping.ts';

export const textvqa = defineMapping({
  name: 'textvqa',
  description: 'TextVQA: questions about text in photographs, with the answers of ten people.',
  sources: ['lmms-lab/textvqa'],
  schemaFrom: 'its task in lmms-eval',
  isVerified: true,
  declaration: {
    question: 'question',
    images: 'image',
    answer: { value: 'answers', as: 'all' },
    metadata: { id: 'question_id' },
  },
});
