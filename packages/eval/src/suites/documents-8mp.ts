import { defineSuite } from '../suite/define-suite.ts';

export const documents8mp = defineSuite({
  name: 'documents-8mp',
  description: 'Pages of eight megapixels in small print; ANLS.',
  form: ['DocVQA', 'MME-RealWorld'],
  groups: ['generated'],
  taskSet: 'documents-8mp',
  verifier: 'anls',
  defaults: { tasks: 50 },
});
