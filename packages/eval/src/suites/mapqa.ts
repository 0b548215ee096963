import { definePublicSuite } from '../suite/public-suite.ts';

export const mapqa = definePublicSuite({
  name: 'mapqa',
  description: 'MapQA: questions about choropleth maps; its files are a download of their own.',
  reads: ['MapQA'],
  from: 'MapQA',
  mapping: 'mapqa',
  verifier: 'answer-form',
  defaults: { temperature: 0.5, topK: 20 },
});
