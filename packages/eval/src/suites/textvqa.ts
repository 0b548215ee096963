import { definePublicSuite } from '../suite/public-suite.ts';

export const textvqa = definePublicSuite({
  name: 'textvqa',
  description: 'TextVQA: questions about text in photographs; agreement with ten people.',
  reads: ['TextVQA'],
  from: 'hf:datasets/lmms-lab/textvqa',
  mapping: 'textvqa',
  files: ['data/validation-*'],
  verifier: { name: 'vqa-accuracy', normalization: 'textvqa' },
  defaults: { temperature: 0.5, topK: 20 },
});
