import { defineRecipe } from '../recipe.ts';
import { pyvisionVideoNano } from './pyvision-video-nano.ts';

/**
 * The usual way to read a video, for comparison: frames at equal distances in the context, and an answer
 * at once. Everything else is as in `pyvision-video-nano`.
 */
export const videoUniformNano = defineRecipe({
  name: 'video-uniform-nano',
  description: 'The baseline of pyvision-video-nano: uniformly sampled frames, no tool.',
  paper: 'Baseline of PyVision-RL, arXiv:2602.20739, Fig. 2a',
  config: {
    ...pyvisionVideoNano.config,
    taskSet: { name: 'card-video', initialFrames: 8 },
    protocol: {
      name: 'pyvision-video-short',
      toolTurns: 0,
      images: 64,
      evaluationToolTurns: 0,
      evaluationImages: 64,
    },
    coldStart: {
      name: 'card-video',
      frames: 8,
      demonstrations: 0,
      tours: 0,
      readings: 2048,
      captions: 4096,
      readingBatchSize: 24,
      captionBatchSize: 64,
    },
  },
});
