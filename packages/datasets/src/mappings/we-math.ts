/** We-Math: problems divided by the knowledge that they need. */
import { defineMapping } from '../mapping/define-mapping.ts';

export const weMath = defineMapping({
  name: 'we-math',
  description: 'We-Math: problems divided by the knowledge that they need.',
  sources: ['We-Math/We-Math'],
  schemaFrom: 'its task in lmms-eval',
  isVerified: true,
  declaration: {
    question: '{question}\n{option}',
    images: 'image_path',
    answer: 'answer',
    metadata: { knowledge: 'knowledge concept', key: 'key', id: 'ID' },
  },
});
