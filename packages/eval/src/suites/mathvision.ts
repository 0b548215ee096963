import { definePublicSuite } from '../suite/public-suite.ts';

export const mathvision = definePublicSuite({
  name: 'mathvision',
  description: 'MathVision: problems of competitions with figures.',
  reads: ['MathVision'],
  from: 'hf:datasets/MathLLMs/MathVision',
  mapping: 'mathvision',
  verifier: 'math',
  defaults: { temperature: 0.5, topK: 20 },
});
