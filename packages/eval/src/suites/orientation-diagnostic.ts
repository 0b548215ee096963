import { defineSuite } from '../suite/define-suite.ts';

export const orientationDiagnostic = defineSuite({
  name: 'orientation-diagnostic',
  description: 'Which of five turns and flips was applied to an image: 200 images, chance 20 %.',
  form: ['CodeVision, Fig. 1'],
  groups: ['generated'],
  taskSet: 'orientation-diagnostic',
  verifier: 'multiple-choice',
  defaults: { tasks: 200 },
  slices: { domain: ({ domain }) => domain },
});
