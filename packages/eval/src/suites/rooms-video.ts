import { defineSuite } from '../suite/define-suite.ts';

export const roomsVideo = defineSuite({
  name: 'rooms-video',
  description: 'Walks through rooms: count, distance, direction, size, order; numbers by MRA.',
  form: ['VSI-Bench'],
  groups: ['generated'],
  taskSet: 'rooms-video',
  verifier: { name: 'answer-form', numbers: 'mra' },
  protocol: 'pyvision-video',
  defaults: { tasks: 50 },
  slices: { answerType: ({ answerType }) => answerType },
});
