import { defineSuite } from '../suite/define-suite.ts';

export const counting = defineSuite({
  name: 'counting',
  description: 'Count things of a kind in a crowd.',
  form: ['CountBench', 'PixmoCount'],
  groups: ['generated'],
  taskSet: 'counting',
  verifier: 'counting',
});
