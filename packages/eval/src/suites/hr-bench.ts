import { definePublicSuite } from '../suite/public-suite.ts';

export const hrBench = definePublicSuite({
  name: 'hr-bench',
  description: 'HR-Bench: questions about images of 4K and 8K.',
  reads: ['HR-Bench 4K', 'HR-Bench 8K'],
  from: 'hf:datasets/DreamMr/HR-Bench',
  mapping: 'hr-bench',
  verifier: 'multiple-choice',
  defaults: { temperature: 0.5, topK: 20 },
  slices: { category: ({ category }) => category },
});
