import { defineSuite } from '../suite/define-suite.ts';

export const science = defineSuite({
  name: 'science',
  description: 'Periodic tables, circuits, food webs and instruments: look up, add, read off.',
  form: ['ScienceQA', 'AI2D'],
  groups: ['generated'],
  taskSet: 'science',
  verifier: { name: 'answer-form', relativeTolerance: 0.05 },
  slices: { kind: ({ kind }) => kind },
});
