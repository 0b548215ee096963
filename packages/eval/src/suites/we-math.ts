import { definePublicSuite } from '../suite/public-suite.ts';

export const weMath = definePublicSuite({
  name: 'we-math',
  description: 'We-Math: problems by the knowledge that they take.',
  reads: ['We-Math'],
  from: 'hf:datasets/We-Math/We-Math',
  mapping: 'we-math',
  verifier: 'multiple-choice',
  defaults: { temperature: 0.5, topK: 20 },
});
