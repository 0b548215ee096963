import { definePublicSuite } from '../suite/public-suite.ts';

export const infographicVqa = definePublicSuite({
  name: 'infographic-vqa',
  description: 'InfographicVQA: questions about posters of numbers; ANLS.',
  reads: ['InfographicVQA'],
  from: 'hf:datasets/lmms-lab/DocVQA',
  mapping: 'infographic-vqa',
  files: ['InfographicVQA/validation-*'],
  verifier: 'anls',
  defaults: { temperature: 0.5, topK: 20 },
});
