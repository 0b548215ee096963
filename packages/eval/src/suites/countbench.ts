import { definePublicSuite } from '../suite/public-suite.ts';

export const countbench = definePublicSuite({
  name: 'countbench',
  description: 'CountBenchQA: count things of a kind in photographs.',
  reads: ['CountBench'],
  from: 'hf:datasets/vikhyatk/CountBenchQA',
  mapping: 'countbench',
  verifier: 'counting',
  defaults: { temperature: 0.5, topK: 20 },
});
