import { definePublicSuite } from '../suite/public-suite.ts';

export const geometry3k = definePublicSuite({
  name: 'geometry3k',
  description: 'Geometry3K: problems of plane geometry.',
  reads: ['Geometry3K'],
  from: 'hf:datasets/hiyouga/geometry3k',
  mapping: 'geometry3k',
  verifier: 'math',
  defaults: { temperature: 0.5, topK: 20 },
});
