import { defineSuite } from '../suite/define-suite.ts';

export const handwriting = defineSuite({
  name: 'handwriting',
  description: 'Ledgers with handwritten numbers: read, add, compare.',
  form: ['IAM', 'OCRBench'],
  groups: ['generated'],
  taskSet: 'handwriting',
  verifier: 'answer-form',
});
