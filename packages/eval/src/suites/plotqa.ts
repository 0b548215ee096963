import { definePublicSuite } from '../suite/public-suite.ts';

export const plotqa = definePublicSuite({
  name: 'plotqa',
  description: 'PlotQA: questions about scientific plots; one of the six checks of VISTA.',
  reads: ['PlotQA'],
  from: 'PlotQA',
  mapping: 'plotqa',
  groups: ['vista-ood'],
  verifier: { name: 'answer-form', relativeTolerance: 0.05 },
  defaults: { temperature: 0.5, topK: 20 },
});
