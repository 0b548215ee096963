/** MathVerse: problems of which less and less is written and more and more is drawn. */
import { defineMapping } from '../mapping/define-mapping.ts';

export const mathverse = defineMapping({
  name: 'mathverse',
  description: 'MathVerse: problems of which more and more is drawn instead of written.',
  sources: ['AI4Math/MathVerse'],
  schemaFrom: 'its task in lmms-eval',
  isVerified: true,
  declaration: {
    // Where everything is drawn, the question itself is empty: the query says to read the image.
    question: 'query_wo',
    images: 'image',
    answer: 'answer',
    metadata: {
      problem: 'problem_index',
      version: 'problem_version',
      questionType: 'question_type',
      subject: 'metadata.subject',
      subfield: 'metadata.subfield',
    },
  },
});
