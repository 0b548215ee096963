import { definePublicSuite } from '../suite/public-suite.ts';

export const ai2d = definePublicSuite({
  name: 'ai2d',
  description: 'AI2D: diagrams of science at school; one of the six checks of VISTA.',
  reads: ['AI2D'],
  from: 'hf:datasets/lmms-lab/ai2d',
  mapping: 'ai2d',
  groups: ['vista-ood'],
  verifier: 'multiple-choice',
  defaults: { temperature: 0.5, topK: 20 },
});
