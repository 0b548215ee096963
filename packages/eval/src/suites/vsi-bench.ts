import { definePublicSuite } from '../suite/public-suite.ts';

export const vsiBench = definePublicSuite({
  name: 'vsi-bench',
  description: 'VSI-Bench: space in videos of rooms; numbers by MRA, options by accuracy.',
  reads: ['VSI-Bench'],
  from: 'hf:datasets/nyu-visionx/VSI-Bench',
  mapping: 'vsi-bench',
  verifier: { name: 'answer-form', numbers: 'mra' },
  protocol: 'pyvision-video',
  defaults: { temperature: 0.01 },
  slices: { kind: ({ kind }) => kind },
});
