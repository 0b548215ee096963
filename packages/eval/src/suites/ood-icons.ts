import { defineSuite } from '../suite/define-suite.ts';

export const oodIcons = defineSuite({
  name: 'ood-icons',
  description: 'Pictograms that training never shows: count them and tell them apart.',
  form: ['IconQA'],
  groups: ['generated', 'ood'],
  taskSet: { name: 'count-and-find', hardest: 1 },
  verifier: 'answer-form',
});
