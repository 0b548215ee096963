/** MME-RealWorld: five choices about large photographs, charts, streets and satellite images. */
import { defineMapping } from '../mapping/define-mapping.ts';

export const mmeRealworld = defineMapping({
  name: 'mme-realworld',
  description: 'MME-RealWorld: five choices about large photographs, charts and satellite images.',
  sources: [
    'yifanzhang114/MME-RealWorld-Lmms-eval',
    'yifanzhang114/MME-RealWorld-lite-lmms-eval',
    'yifanzhang114/MME-RealWorld-CN-Lmms-eval',
  ],
  schemaFrom: 'its task in lmms-eval',
  isVerified: true,
  declaration: {
    question: 'question',
    images: 'bytes',
    // Each choice begins with its letter: (A) red.
    choices: { value: 'multi-choice options', pattern: '^\\s*\\([A-E]\\)\\s*(.*)$' },
    answer: { value: 'answer', as: 'letter' },
    metadata: { category: 'category', task: 'l2-category', id: 'index' },
  },
});
