/** BLINK: fourteen tasks of perception over one to four images, with choices. */
import { defineMapping } from '../mapping/define-mapping.ts';

export const blink = defineMapping({
  name: 'blink',
  description: 'BLINK: fourteen tasks of perception over one to four images, with choices.',
  sources: ['BLINK-Benchmark/BLINK'],
  schemaFrom: 'its task in lmms-eval and its scenario in HELM',
  isVerified: true,
  declaration: {
    // The prompt has the choices in its words; `question` has not.
    question: 'prompt',
    images: [
      'image_1',
      { value: 'image_2', optional: true },
      { value: 'image_3', optional: true },
      { value: 'image_4', optional: true },
    ],
    choices: { value: 'choices', inQuestion: true },
    answer: { value: 'answer', as: 'letter' },
    metadata: { task: 'sub_task', id: 'idx' },
  },
});
