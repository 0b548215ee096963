/** MapQA: questions about choropleth maps. */
import { defineMapping } from '../mapping/define-mapping.ts';

export const mapqa = defineMapping({
  name: 'mapqa',
  description: 'MapQA: questions about choropleth maps.',
  sources: ['MapQA'],
  schemaFrom: 'arXiv:2211.08545 and the release of the data',
  isVerified: false,
  declaration: {
    question: 'question_text',
    images: { value: 'map_id', folder: 'images' },
    answer: { value: 'answer', as: 'all' },
  },
});
