/** MathV360K: questions of many sets about figures, as conversations. */
import { defineMapping } from '../mapping/define-mapping.ts';

export const mathv360k = defineMapping({
  name: 'mathv360k',
  description: 'MathV360K: questions of many sets about figures, as conversations.',
  sources: ['Zhiqiang007/MathV360K'],
  schemaFrom: 'public code of HZQ950419/Math-LLaVA',
  isVerified: true,
  declaration: {
    question: {
      value: 'conversations[from=human].value',
      without: ['<image>\n', '\n<image>', '<image>'],
    },
    images: { value: 'image', folder: 'data_images' },
    answer: {
      value: 'conversations[from=gpt].value',
      pattern: '(?:The answer is|Answer:) *(.*?)\\.?$',
    },
  },
});
