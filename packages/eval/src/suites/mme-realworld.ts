import { definePublicSuite } from '../suite/public-suite.ts';

export const mmeRealworld = definePublicSuite({
  name: 'mme-realworld',
  description: 'MME-RealWorld: five choices about large photographs, streets, charts and maps.',
  reads: ['MME-RealWorld'],
  from: 'hf:datasets/yifanzhang114/MME-RealWorld-Lmms-eval',
  mapping: 'mme-realworld',
  verifier: 'multiple-choice',
  defaults: { temperature: 0.5, topK: 20 },
  slices: { category: ({ category }) => category, task: ({ task }) => task },
});
