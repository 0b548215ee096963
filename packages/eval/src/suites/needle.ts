import { defineSuite } from '../suite/define-suite.ts';

export const needle = defineSuite({
  name: 'needle',
  description: 'The main job: find the card with a digit on a large table and read it.',
  form: [],
  groups: ['generated', 'nano'],
  taskSet: 'needle',
  verifier: 'exact',
});
