import { defineSuite } from '../suite/define-suite.ts';

export const cardVideo = defineSuite({
  name: 'card-video',
  description: 'Clips in which a card shows its digit for a few frames: find when, and look.',
  form: ['VSI-Bench'],
  groups: ['generated', 'nano'],
  taskSet: 'card-video',
  verifier: 'exact',
  protocol: 'pyvision-video-short',
});
