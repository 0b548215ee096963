import type { Recipe } from '../recipe.ts';

/**
 * PyVision-RL on pictures at nano size: find a handwritten digit hidden in a large picture.
 *
 * Numbers of the method (B, α, G, temperature, clip, bonus, tool turns) are the paper's,
 * arXiv:2602.20739; learning rates, counts and sizes are fitted to a policy of a million
 * parameters on two cores.
 */
export const pyvisionImageNano: Recipe = {
  name: 'pyvision-image-nano',
  description:
    'A small vision policy learns to look: PyVision-RL on the needle task set, on a CPU.',
  paper: 'PyVision-RL, arXiv:2602.20739',
  config: {
    policy: 'nano',
    taskSet: 'needle',
    protocol: 'pyvision-image-short',
    sharedPrefix: true,
    sft: {
      demonstrations: 512,
      tours: 1280,
      tourCards: 4,
      readings: 8192,
      captions: 16384,
      updates: 680,
      batchSize: 8,
      tourBatchSize: 18,
      readingBatchSize: 12,
      captionBatchSize: 128,
      answerWithoutLooking: 0.4,
      learningRate: 8e-4,
      finalFraction: 0.03,
    },
    rl: {
      steps: 40,
      algorithm: 'pyvision-rl',
      scheduler: 'oversample-filter-rank',
      reward: 'pyvision',
      batchSize: 16,
      oversample: 2,
      groupSize: 8,
      ranking: true,
      // Rolling out costs eight times what learning does: a batch is learned from in four parts.
      minibatches: 4,
      temperature: 1,
      learningRate: 1e-4,
      finalFraction: 0.1,
      algorithmSettings: { clipLow: 0.2, clipHigh: 0.2 },
      accumulativeCoefficient: 0.1,
    },
    rollout: { maxToolTurns: 4, maxImages: 8 },
    evaluation: { count: 200, temperature: 1, everySteps: 10 },
    checkpoint: { everySftUpdates: 200, everyRlSteps: 10, keep: 3 },
  },
};
