import { defineSuite } from '../suite/define-suite.ts';

export const darkNeedle = defineSuite({
  name: 'dark-needle',
  description: 'The main job without light, where needless turns go unnoticed.',
  form: [],
  groups: ['generated', 'nano'],
  taskSet: 'dark-needle',
  verifier: 'exact',
});
