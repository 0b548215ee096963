import { defineSuite } from '../suite/define-suite.ts';

export const turnedNeedle = defineSuite({
  name: 'turned-needle',
  description: 'The main job on tables that were turned or flipped: undo it, then crop.',
  form: ['MVToolBench'],
  groups: ['generated', 'nano'],
  taskSet: 'turned-needle',
  verifier: 'exact',
});
