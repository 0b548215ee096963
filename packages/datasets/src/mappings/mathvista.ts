/** MathVista: mathematics in figures of many kinds. */
import { defineMapping } from '../mapping/define-mapping.ts';

export const mathvista = defineMapping({
  name: 'mathvista',
  description: 'MathVista: mathematics in figures of many kinds.',
  sources: ['AI4Math/MathVista'],
  schemaFrom: 'its task in lmms-eval',
  isVerified: true,
  declaration: {
    question: 'question',
    images: 'decoded_image',
    choices: 'choices',
    answer: { value: 'answer', as: 'choice' },
    metadata: {
      unit: 'unit',
      precision: 'precision',
      answerType: 'answer_type',
      questionType: 'question_type',
    },
  },
});
