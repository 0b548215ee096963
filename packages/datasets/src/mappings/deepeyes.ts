/** DeepEyes: visual search, charts and mathematics in the rows of verl. */
import { defineMapping } from '../mapping/define-mapping.ts';

export const deepeyes = defineMapping({
  name: 'deepeyes',
  description: 'DeepEyes: visual search, charts and mathematics in the rows of verl.',
  sources: ['ChenShawn/DeepEyes-Datasets-47k'],
  schemaFrom: 'public code of Visual-Agent/DeepEyes',
  isVerified: true,
  declaration: {
    question: { value: 'extra_info.question', without: ['<image>\n', '<image>'] },
    images: 'images',
    answer: 'reward_model.ground_truth',
    metadata: { ability: 'ability' },
    origin: 'data_source',
  },
});
