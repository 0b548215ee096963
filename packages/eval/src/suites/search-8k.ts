import { defineSuite } from '../suite/define-suite.ts';

export const search8k = defineSuite({
  name: 'search-8k',
  description: 'Find a small thing on an image of 7680 by 4320 pixels, and say what it is.',
  form: ['HR-Bench 8K'],
  groups: ['generated'],
  taskSet: 'search-8k',
  verifier: 'answer-form',
  defaults: { tasks: 50 },
});
