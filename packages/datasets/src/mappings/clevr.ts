/** CLEVR: questions about rendered scenes, from its original files. */
import { defineMapping } from '../mapping/define-mapping.ts';

export const clevr = defineMapping({
  name: 'clevr',
  description: 'CLEVR: questions about rendered scenes, from its original files.',
  sources: ['CLEVR'],
  schemaFrom: 'arXiv:1612.06890 and the release of the data',
  isVerified: false,
  declaration: {
    question: 'question',
    images: { file: 'images/{split}/{image_filename}' },
    answer: 'answer',
    metadata: { family: 'question_family_index' },
  },
});
