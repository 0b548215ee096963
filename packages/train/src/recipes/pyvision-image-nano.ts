import { defineRecipe } from '../recipe.ts';
import { nanoOptimizers } from './nano-optimizers.ts';

/**
 * PyVision-RL on images at nano size: find a handwritten digit hidden in a large image.
 *
 * Numbers of the method (B, α, G, temperature, clip, bonus, tool turns) are the paper's,
 * arXiv:2602.20739; learning rates, counts and sizes are fitted to a policy of a million
 * parameters on two cores.
 */
export const pyvisionImageNano = defineRecipe({
  name: 'pyvision-image-nano',
  description:
    'A small vision policy learns to look: PyVision-RL on the needle task set, on a CPU.',
  paper: 'PyVision-RL, arXiv:2602.20739',
  config: {
    model: 'nano',
    taskSet: 'needle',
    protocol: {
      name: 'pyvision-image-short',
      toolTurns: 4,
      images: 8,
      evaluationToolTurns: 4,
      evaluationImages: 8,
    },
    coldStart: {
      name: 'needle',
      demonstrations: 512,
      tours: 1280,
      tourCards: 4,
      readings: 8192,
      captions: 16384,
      batchSize: 8,
      tourBatchSize: 18,
      readingBatchSize: 12,
      captionBatchSize: 128,
      answerWithoutLooking: 0.4,
    },
    sft: { updates: 680, learningRate: 8e-4 },
    ...nanoOptimizers({ sftFinalFraction: 0.03, finalFraction: 0.1 }),
    algorithm: { name: 'pyvision-rl', clipLow: 0.2, clipHigh: 0.2 },
    scheduler: {
      name: 'oversample-filter-rank',
      promptsPerStep: 16,
      oversample: 2,
      ranking: true,
    },
    reward: { name: 'pyvision', 'accumulative-tool': { weight: 0.1 } },
    rl: {
      steps: 40,
      groupSize: 8,
      // Rolling out costs eight times what learning does: a batch is learned from in four parts.
      minibatches: 4,
      temperature: 1,
      learningRate: 1e-4,
    },
    evaluation: { count: 200, temperature: 1, everySteps: 10 },
    checkpoint: { everySftUpdates: 200, everyRlSteps: 10, keep: 3 },
  },
});
