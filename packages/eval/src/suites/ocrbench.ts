import { definePublicSuite } from '../suite/public-suite.ts';

export const ocrbench = definePublicSuite({
  name: 'ocrbench',
  description: 'OCRBench: text in scenes, documents, receipts and handwriting.',
  reads: ['OCRBench'],
  from: 'hf:datasets/echo840/OCRBench',
  mapping: 'ocrbench',
  verifier: 'contains',
  defaults: { temperature: 0.5, topK: 20 },
});
