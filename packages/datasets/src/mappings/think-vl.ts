/** ThinkVL: problems with images and short answers, as Hugging Face RL sets have them. */
import { defineMapping } from '../mapping/define-mapping.ts';

export const thinkVl = defineMapping({
  name: 'think-vl',
  description: 'ThinkVL: problems with images and short answers, as Hugging Face RL sets have them.',
  sources: ['ThinkVL'],
  schemaFrom: 'the common layout of images, problem and answer; no published card was found',
  isVerified: false,
  declaration: {
    question: { value: 'problem', without: ['<image>\n', '<image>'] },
    images: 'images',
    answer: 'answer',
  },
});
