import { definePublicSuite } from '../suite/public-suite.ts';

export const tabmwp = definePublicSuite({
  name: 'tabmwp',
  description: 'TABMWP: arithmetic over tables; one of the six checks of VISTA, Table 5.',
  reads: ['TABMWP'],
  from: 'TABMWP',
  mapping: 'tabmwp',
  groups: ['vista-ood'],
  verifier: 'answer-form',
  defaults: { temperature: 0.5, topK: 20 },
});
