import { definePublicSuite } from '../suite/public-suite.ts';

export const clevrMath = definePublicSuite({
  name: 'clevr-math',
  description: 'CLEVR-Math: arithmetic over scenes; one of the six checks of VISTA.',
  reads: ['CLEVR-Math'],
  from: 'hf:datasets/dali-does/clevr-math',
  mapping: 'clevr-math',
  groups: ['vista-ood'],
  verifier: 'answer-form',
  defaults: { temperature: 0.5, topK: 20 },
});
