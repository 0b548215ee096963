import { definePublicSuite } from '../suite/public-suite.ts';

export const mathvista = definePublicSuite({
  name: 'mathvista',
  description: 'MathVista: mathematics in figures of many kinds.',
  reads: ['MathVista'],
  from: 'hf:datasets/AI4Math/MathVista',
  mapping: 'mathvista',
  groups: ['vista-ood'],
  verifier: 'answer-form',
  defaults: { temperature: 0.5, topK: 20 },
  slices: { answerType: ({ answerType }) => answerType },
});
