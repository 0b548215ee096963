/** IAM: lines of English handwriting with their transcription. */
import { defineMapping } from '../mapping/define-mapping.ts';

export const iamLine = defineMapping({
  name: 'iam-line',
  description: 'IAM: lines of English handwriting with their transcription.',
  sources: ['Teklia/IAM-line'],
  schemaFrom: 'public code that reads it, and the cards of its sister sets',
  isVerified: true,
  declaration: {
    question: { text: 'Which text is written in the image? Answer with that text alone.' },
    images: 'image',
    answer: 'text',
  },
});
