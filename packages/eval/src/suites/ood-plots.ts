import { defineSuite } from '../suite/define-suite.ts';

export const oodPlots = defineSuite({
  name: 'ood-plots',
  description: 'Line plots of tables and in styles that training never shows.',
  form: ['PlotQA'],
  groups: ['generated', 'ood'],
  taskSet: { name: 'charts-qa', kinds: ['lines'] },
  verifier: 'relaxed-accuracy',
});
