/** GeoQA: problems of plane geometry with four choices. */
import { defineMapping } from '../mapping/define-mapping.ts';

export const geoqa = defineMapping({
  name: 'geoqa',
  description: 'GeoQA: problems of plane geometry with four choices.',
  sources: ['GeoQA', 'GeoQA-Plus'],
  schemaFrom:
    'public code of chen-judge/GeoQA, which names no column of the text; its files are pickles: convert ' +
    'them first, and write their arrays as images',
  isVerified: false,
  declaration: {
    question: 'subject',
    images: 'image',
    choices: 'choices',
    answer: { value: 'label', as: 'index' },
    metadata: { program: 'formal_point' },
  },
});
