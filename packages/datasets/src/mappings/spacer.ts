/** SpaceR: questions about space in videos of rooms. */
import { defineMapping } from '../mapping/define-mapping.ts';

export const spacer = defineMapping({
  name: 'spacer',
  description: 'SpaceR: questions about space in videos of rooms.',
  sources: ['RUBBISHLIKE/SpaceR-151k'],
  schemaFrom: 'public code of OuyangKun10/SpaceR',
  isVerified: true,
  declaration: {
    question: 'problem',
    videos: { value: 'path' },
    choices: { value: 'options', inQuestion: false },
    answer: { value: 'solution', pattern: '<answer>\\s*(.*?)\\s*</answer>' },
    metadata: { kind: 'problem_type' },
    origin: 'data_source',
  },
});
