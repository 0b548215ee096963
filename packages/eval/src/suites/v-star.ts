import { definePublicSuite } from '../suite/public-suite.ts';

export const vStar = definePublicSuite({
  name: 'v-star',
  description: 'V*: visual search over large photographs; avg@32 as in PyVision-RL, §4.',
  reads: ['V*'],
  from: 'hf:datasets/craigwu/vstar_bench',
  mapping: 'v-star',
  verifier: 'multiple-choice',
  defaults: { k: 32, temperature: 0.01 },
  slices: { category: ({ category }) => category },
});
