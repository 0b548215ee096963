import { defineRecipe } from '../recipe.ts';
import { nanoOptimizers } from './nano-optimizers.ts';

/**
 * PyVision-RL on videos at nano size: find the moment in which a card shows its digit.
 *
 * No frame is in the context; the policy fetches what it wants by code. Numbers of the method (B, α, G,
 * temperature, clip, bonus, tool turns) are the paper's, arXiv:2602.20739; learning rates, counts and
 * sizes are fitted to a policy of a million parameters on two cores.
 */
export const pyvisionVideoNano = defineRecipe({
  name: 'pyvision-video-nano',
  description: 'A small policy learns to fetch frames of a video on demand: PyVision-Video.',
  paper: 'PyVision-RL, arXiv:2602.20739',
  config: {
    model: 'nano',
    taskSet: 'card-video',
    protocol: {
      name: 'pyvision-video-short',
      toolTurns: 4,
      images: 8,
      evaluationToolTurns: 4,
      evaluationImages: 8,
    },
    coldStart: {
      name: 'card-video',
      demonstrations: 192,
      tours: 512,
      readings: 1024,
      captions: 4096,
      batchSize: 8,
      tourBatchSize: 18,
      readingBatchSize: 8,
      captionBatchSize: 64,
      answerWithoutLooking: 0.3,
    },
    sft: { updates: 350, learningRate: 8e-4 },
    ...nanoOptimizers({ sftFinalFraction: 0.03, finalFraction: 0.1 }),
    algorithm: { name: 'pyvision-rl', clipLow: 0.2, clipHigh: 0.2 },
    scheduler: {
      name: 'oversample-filter-rank',
      promptsPerStep: 16,
      oversample: 2,
      ranking: true,
    },
    reward: { name: 'pyvision', 'accumulative-tool': { weight: 0.1 } },
    rl: { steps: 16, groupSize: 8, minibatches: 4, temperature: 1, learningRate: 1e-4 },
    evaluation: { count: 200, temperature: 1, everySteps: 0 },
    checkpoint: { everySftUpdates: 200, everyRlSteps: 10, keep: 2 },
  },
});
