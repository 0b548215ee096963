import { defineSuite } from '../suite/define-suite.ts';

export const oodTables = defineSuite({
  name: 'ood-tables',
  description: 'Tables in small print, in typefaces and with entries that training never shows.',
  form: ['TABMWP'],
  groups: ['generated', 'ood'],
  taskSet: { name: 'documents', kinds: ['table'] },
  verifier: 'answer-form',
});
