import { defineSuite } from '../suite/define-suite.ts';

export const spotTheDifference = defineSuite({
  name: 'spot-the-difference',
  description: 'Two or three images of a scene: what has changed, and where.',
  form: ['MME-RealWorld', 'BLINK'],
  groups: ['generated'],
  taskSet: 'spot-the-difference',
  verifier: 'answer-form',
});
