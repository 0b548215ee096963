import { defineSuite } from '../suite/define-suite.ts';

export const scenes = defineSuite({
  name: 'scenes',
  description: 'Pictograms and small signs on photographs: count, find, read.',
  form: ['V*', 'CountBench', 'TextVQA'],
  groups: ['generated'],
  taskSet: 'count-and-find',
  verifier: 'answer-form',
});
