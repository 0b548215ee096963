/** Data sets that Saccade exports. */
import { defineMapping } from '../mapping/define-mapping.ts';

export const saccade = defineMapping({
  name: 'saccade',
  description: 'Data sets that Saccade exports.',
  sources: [],
  schemaFrom: 'packages/datasets/src/writers',
  isVerified: true,
  declaration: {
    question: 'question',
    images: { value: 'images', optional: true },
    answer: 'answer',
    metadataFrom: 'metadata',
  },
});
