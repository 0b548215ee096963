/** ThinkLite-VL: problems chosen by how long a tree search takes. */
import { defineMapping } from '../mapping/define-mapping.ts';

export const thinklite = defineMapping({
  name: 'thinklite',
  description: 'ThinkLite-VL: problems chosen by how long a tree search takes.',
  sources: ['russwang/ThinkLite-VL-hard-11k', 'russwang/ThinkLite-VL-70k'],
  schemaFrom: 'public code of si0wang/ThinkLite-VL',
  isVerified: false,
  declaration: {
    question: { value: 'problem', without: ['<image>\n', '<image>'] },
    images: 'image',
    answer: 'answer',
  },
});
