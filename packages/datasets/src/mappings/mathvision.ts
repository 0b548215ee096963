/** MathVision: problems of mathematics competitions. */
import { defineMapping } from '../mapping/define-mapping.ts';

export const mathvision = defineMapping({
  name: 'mathvision',
  description: 'MathVision: problems of mathematics competitions.',
  sources: ['MathLLMs/MathVision'],
  schemaFrom: 'its task in lmms-eval',
  isVerified: true,
  declaration: {
    question: { value: 'question', without: ['<image1>', '<image2>', '<image3>'] },
    images: 'decoded_image',
    choices: 'options',
    answer: { value: 'answer', as: 'letter' },
    metadata: { subject: 'subject', level: 'level' },
  },
});
