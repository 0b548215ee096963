import { defineSuite } from '../suite/define-suite.ts';

export const maps = defineSuite({
  name: 'maps',
  description: 'Choropleth maps: classes, extremes, counts and neighbors of regions.',
  form: ['MapQA'],
  groups: ['generated'],
  taskSet: 'maps',
  verifier: 'answer-form',
});
