import { definePublicSuite } from '../suite/public-suite.ts';

export const chartqapro = definePublicSuite({
  name: 'chartqapro',
  description:
    'ChartQAPro: charts and dashboards with lists and conversations; five kinds of questions.',
  reads: ['ChartQAPro'],
  from: 'hf:datasets/ahmed-masry/ChartQAPro',
  mapping: 'chartqapro',
  files: ['data/test-*'],
  verifier: 'relaxed-lists',
  defaults: { temperature: 0.5, topK: 20 },
  slices: { kind: ({ kind }) => kind },
});
