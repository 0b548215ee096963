import { definePublicSuite } from '../suite/public-suite.ts';

export const scienceQa = definePublicSuite({
  name: 'science-qa',
  description: 'ScienceQA: multiple choice of school science, the questions with an image.',
  reads: ['ScienceQA'],
  from: 'hf:datasets/lmms-lab/ScienceQA',
  mapping: 'science-qa',
  files: ['ScienceQA-IMG/test-*'],
  verifier: 'multiple-choice',
  defaults: { temperature: 0.5, topK: 20 },
  slices: { subject: ({ subject }) => subject },
});
