import { defineSuite } from '../suite/define-suite.ts';

export const geometry = defineSuite({
  name: 'geometry',
  description: 'Figures with measures: a length or an angle that one to three theorems give.',
  form: ['Geometry3K', 'GeoQA', 'MathVerse', 'MathVista'],
  groups: ['generated'],
  taskSet: 'geometry-solve',
  verifier: { name: 'answer-form', relativeTolerance: 0.01 },
  slices: { figure: ({ figure }) => figure },
});
