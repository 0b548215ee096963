/** Mini-o3 VisualProbe: visual search over large photographs. */
import { defineMapping } from '../mapping/define-mapping.ts';

export const miniO3 = defineMapping({
  name: 'mini-o3',
  description: 'Mini-o3 VisualProbe: visual search over large photographs.',
  sources: [
    'Mini-o3/VisualProbe_train',
    'Mini-o3/DeepEyes_train_4K',
    'Mini-o3/VisualProbe_Easy',
    'Mini-o3/VisualProbe_Medium',
    'Mini-o3/VisualProbe_Hard',
  ],
  schemaFrom: 'public code and README of Mini-o3/Mini-o3',
  isVerified: true,
  declaration: {
    question: { value: 'problem', without: ['<image>\n', '<image>'] },
    images: 'images',
    answer: 'solution',
    metadata: { id: 'doc_id' },
  },
});
