import { defineSuite } from '../suite/define-suite.ts';

export const oodMath = defineSuite({
  name: 'ood-math',
  description: 'Geometry with four options, of figures that training never shows.',
  form: ['MathVista'],
  groups: ['generated', 'ood'],
  taskSet: { name: 'geometry-solve', answers: 'choice' },
  verifier: 'multiple-choice',
  slices: { figure: ({ figure }) => figure },
});
