import { definePublicSuite } from '../suite/public-suite.ts';

export const chartqa = definePublicSuite({
  name: 'chartqa',
  description: 'ChartQA: questions about charts; relaxed accuracy.',
  reads: ['ChartQA'],
  from: 'hf:datasets/HuggingFaceM4/ChartQA',
  mapping: 'chartqa',
  files: ['data/test-*'],
  verifier: { name: 'answer-form', relativeTolerance: 0.05 },
  defaults: { temperature: 0.5, topK: 20 },
  slices: { writtenBy: ({ writtenBy }) => writtenBy },
});
