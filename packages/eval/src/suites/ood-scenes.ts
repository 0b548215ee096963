import { defineSuite } from '../suite/define-suite.ts';

export const oodScenes = defineSuite({
  name: 'ood-scenes',
  description: 'How many things were added, removed and moved between two scenes.',
  form: ['CLEVR-Math'],
  groups: ['generated', 'ood'],
  taskSet: 'spot-the-difference',
  verifier: 'answer-form',
});
