/** CountBenchQA: how many things of a kind a photograph shows. */
import { defineMapping } from '../mapping/define-mapping.ts';

export const countbench = defineMapping({
  name: 'countbench',
  description: 'CountBenchQA: how many things of a kind a photograph shows.',
  sources: ['vikhyatk/CountBenchQA'],
  schemaFrom: 'programs that evaluate on it',
  isVerified: true,
  declaration: { question: 'question', images: 'image', answer: 'number' },
});
