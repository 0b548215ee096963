/** MMK12: questions of mathematics and science from school to twelfth grade. */
import { defineMapping } from '../mapping/define-mapping.ts';

export const mmk12 = defineMapping({
  name: 'mmk12',
  description: 'MMK12: questions of mathematics and science from school to twelfth grade.',
  sources: ['FanqingM/MMK12'],
  schemaFrom: 'public code of ModalMinds/MM-EUREKA',
  isVerified: false,
  declaration: {
    question: { value: 'question', without: ['<image>\n', '<image>'] },
    images: 'image',
    answer: 'answer',
    metadata: { id: 'id', subject: 'subject' },
  },
});
