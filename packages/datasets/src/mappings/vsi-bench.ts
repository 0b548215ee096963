/** VSI-Bench: space in videos of rooms, with numbers and choices. */
import { defineMapping } from '../mapping/define-mapping.ts';

export const vsiBench = defineMapping({
  name: 'vsi-bench',
  description: 'VSI-Bench: space in videos of rooms, with numbers and choices.',
  sources: ['nyu-visionx/VSI-Bench'],
  schemaFrom: 'its task in lmms-eval',
  isVerified: true,
  declaration: {
    question: 'question',
    videos: { file: '{dataset}/{scene_name}.mp4' },
    choices: 'options',
    answer: 'ground_truth',
    metadata: { kind: 'question_type' },
    origin: 'dataset',
  },
});
