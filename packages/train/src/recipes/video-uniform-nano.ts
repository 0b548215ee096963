import type { Recipe } from '../recipe.ts';
import { pyvisionVideoNano } from './pyvision-video-nano.ts';

/**
 * The usual way to read a video, for comparison: frames at equal distances in the context, and an answer
 * at once. Everything else is as in `pyvision-video-nano`.
 */
export const videoUniformNano: Recipe = {
  name: 'video-uniform-nano',
  description: 'The baseline of pyvision-video-nano: uniformly sampled frames, no tool.',
  paper: 'Baseline of PyVision-RL, arXiv:2602.20739, Fig. 2a',
  config: {
    ...pyvisionVideoNano.config,
    sft: {
      ...pyvisionVideoNano.config.sft,
      demonstrations: 0,
      tours: 0,
      readings: 2048,
      readingBatchSize: 24,
    },
    rollout: { initialFrames: 8, maxToolTurns: 0, maxImages: 64 },
  },
};
