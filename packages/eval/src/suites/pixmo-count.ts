import { definePublicSuite } from '../suite/public-suite.ts';

export const pixmoCount = definePublicSuite({
  name: 'pixmo-count',
  description:
    'PixMo-Count: count things of a kind in photographs, which are downloads of their own.',
  reads: ['PixmoCount'],
  from: 'hf:datasets/allenai/pixmo-count',
  mapping: 'pixmo-count',
  files: ['data/test-*'],
  verifier: 'counting',
  defaults: { temperature: 0.5, topK: 20 },
});
