import { defineSuite } from '../suite/define-suite.ts';

export const mvtool = defineSuite({
  name: 'mvtool',
  description:
    'MVToolBench: undo a turn or flip, crop small print of at most 0.01 % of the image, read.',
  form: ['MVToolBench'],
  groups: ['generated'],
  taskSet: 'mvtool',
  verifier: 'answer-form',
  defaults: { tasks: 100 },
});
