/** ScienceQA: multiple choice of school science, some without an image. */
import { defineMapping } from '../mapping/define-mapping.ts';

export const scienceQa = defineMapping({
  name: 'science-qa',
  description: 'ScienceQA: multiple choice of school science, some without an image.',
  sources: ['derek-thomas/ScienceQA', 'lmms-lab/ScienceQA', 'lmms-lab-encoder/ScienceQA'],
  schemaFrom: "the data set's card",
  isVerified: true,
  declaration: {
    question: '{hint}\n{question}',
    images: { value: 'image', optional: true },
    choices: 'choices',
    answer: { value: 'answer', as: 'index' },
    metadata: { subject: 'subject', topic: 'topic', grade: 'grade' },
  },
});
