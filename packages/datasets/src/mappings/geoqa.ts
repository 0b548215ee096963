/** GeoQA: problems of plane geometry with four choices. */
import { defineMapping } from '../mapping/define-mapping.ts';

export const geoqa = defineMapping({
  name: 'geoqa',
  description: 'GeoQA: problems of plane geometry with four choices.',
  sources: ['GeoQA', 'GeoQA-Plus'],
  schemaFrom: 'arXiv:2105.14517 and the release of the data',
  isVerified: false,
  declaration: {
    question: 'subject',
    images: 'image',
    choices: 'choices',
    answer: { value: 'label', as: 'index' },
    metadata: { program: 'formal_point' },
  },
});
