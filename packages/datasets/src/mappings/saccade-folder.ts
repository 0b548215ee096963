/** Image folders that Saccade exports. */
import { defineMapping } from '../mapping/define-mapping.ts';

export const saccadeFolder = defineMapping({
  name: 'saccade-folder',
  description: 'Image folders that Saccade exports.',
  sources: [],
  schemaFrom: 'packages/datasets/src/writers',
  isVerified: true,
  declaration: {
    question: 'question',
    images: 'image',
    answer: 'answer',
    metadataFrom: 'metadata',
  },
});
