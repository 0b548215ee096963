/** The Cauldron: many sets of visual questions in one layout, one question of a row at a time. */
import { defineMapping } from '../mapping/define-mapping.ts';

export const cauldron = defineMapping({
  name: 'cauldron',
  description: 'The Cauldron: many sets of visual questions in one layout, one question of a row at a time.',
  sources: ['HuggingFaceM4/the_cauldron', 'HuggingFaceM4/FineVision'],
  schemaFrom: 'cards of HuggingFaceM4/the_cauldron and FineVision',
  isVerified: true,
  declaration: {
    each: 'texts',
    question: 'each.user',
    images: 'images',
    answer: { value: 'each.assistant', pattern: '^(?:Answer: )?(.*?)\\.?$' },
    origin: 'each.source',
  },
});
