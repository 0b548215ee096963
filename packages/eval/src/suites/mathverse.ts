import { definePublicSuite } from '../suite/public-suite.ts';

export const mathverse = definePublicSuite({
  name: 'mathverse',
  description: 'MathVerse: the same problems with more and more drawn instead of written.',
  reads: ['MathVerse'],
  from: 'hf:datasets/AI4Math/MathVerse',
  mapping: 'mathverse',
  verifier: 'math',
  defaults: { temperature: 0.5, topK: 20 },
});
