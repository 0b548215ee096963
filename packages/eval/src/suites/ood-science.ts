import { defineSuite } from '../suite/define-suite.ts';

export const oodScience = defineSuite({
  name: 'ood-science',
  description: 'Food webs and circuits of kinds that training never shows.',
  form: ['AI2D'],
  groups: ['generated', 'ood'],
  taskSet: { name: 'science', kinds: ['food-web', 'circuit'] },
  verifier: { name: 'answer-form', relativeTolerance: 0.05 },
});
