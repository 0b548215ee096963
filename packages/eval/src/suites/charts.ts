import { defineSuite } from '../suite/define-suite.ts';

export const charts = defineSuite({
  name: 'charts',
  description: 'Charts of real tables: look up, compare, calculate; relaxed accuracy.',
  form: ['ChartQA', 'ChartQAPro', 'PlotQA'],
  groups: ['generated'],
  taskSet: 'charts-qa',
  verifier: 'relaxed-accuracy',
  slices: { kind: ({ kind }) => kind },
});
