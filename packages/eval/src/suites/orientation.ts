import { defineSuite } from '../suite/define-suite.ts';

export const orientation = defineSuite({
  name: 'orientation',
  description: 'Documents upright, turned by quarters, and flipped: six columns.',
  form: ['OCRBench under six orientations', 'ChartQAPro under six orientations'],
  groups: ['generated'],
  taskSet: 'orientation',
  verifier: 'anls',
  defaults: { tasks: 120 },
});
