import { definePublicSuite } from '../suite/public-suite.ts';

export const docvqa = definePublicSuite({
  name: 'docvqa',
  description: 'DocVQA: questions about scanned documents; ANLS.',
  reads: ['DocVQA'],
  from: 'hf:datasets/lmms-lab-encoder/DocVQA',
  mapping: 'docvqa',
  verifier: 'anls',
  defaults: { temperature: 0.5, topK: 20 },
});
