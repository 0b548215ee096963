import { defineSuite } from '../suite/define-suite.ts';

export const documents = defineSuite({
  name: 'documents',
  description: 'Pages of speeches, tables and forms in small print; ANLS.',
  form: ['DocVQA', 'InfographicVQA', 'OCRBench'],
  groups: ['generated'],
  taskSet: 'documents',
  verifier: 'anls',
  slices: { kind: ({ kind }) => kind },
});
