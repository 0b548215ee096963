import { definePublicSuite } from '../suite/public-suite.ts';

export const iconqa = definePublicSuite({
  name: 'iconqa',
  description: 'IconQA: questions about abstract icons; one of the six checks of VISTA.',
  reads: ['IconQA'],
  from: 'hf:datasets/lmms-lab/ICON-QA',
  mapping: 'iconqa',
  groups: ['vista-ood'],
  verifier: 'answer-form',
  defaults: { temperature: 0.5, topK: 20 },
});
