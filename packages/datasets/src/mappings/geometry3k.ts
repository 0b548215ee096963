/** Geometry3K: problems of plane geometry with their diagrams. */
import { defineMapping } from '../mapping/define-mapping.ts';

export const geometry3k = defineMapping({
  name: 'geometry3k',
  description: 'Geometry3K: problems of plane geometry with their diagrams.',
  sources: ['hiyouga/geometry3k'],
  schemaFrom: "the data set's card",
  isVerified: true,
  declaration: {
    question: { value: 'problem', without: ['<image>'] },
    images: 'images',
    answer: 'answer',
  },
});
