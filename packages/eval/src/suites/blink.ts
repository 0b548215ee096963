import { definePublicSuite } from '../suite/public-suite.ts';

export const blink = definePublicSuite({
  name: 'blink',
  description: 'BLINK: fourteen tasks of perception over one to four images.',
  reads: ['BLINK'],
  from: 'hf:datasets/BLINK-Benchmark/BLINK',
  mapping: 'blink',
  files: ['*/val-*'],
  verifier: 'multiple-choice',
  defaults: { temperature: 0.5, topK: 20 },
  slices: { task: ({ task }) => task },
});
