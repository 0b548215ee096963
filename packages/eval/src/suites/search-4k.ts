import { defineSuite } from '../suite/define-suite.ts';

export const search4k = defineSuite({
  name: 'search-4k',
  description: 'Find a small thing on an image of 3840 by 2160 pixels, and say what it is.',
  form: ['V*', 'HR-Bench 4K'],
  groups: ['generated'],
  taskSet: 'search-4k',
  verifier: 'answer-form',
  defaults: { tasks: 50 },
});
