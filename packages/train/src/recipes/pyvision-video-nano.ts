import type { Recipe } from '../recipe.ts';

/**
 * PyVision-RL on videos at nano size: find the moment in which a card shows its digit.
 *
 * No frame is in the context; the policy fetches what it wants by code. Numbers of the method (B, α, G,
 * temperature, clip, bonus, tool turns) are the paper's, arXiv:2602.20739; learning rates, counts and
 * sizes are fitted to a policy of a million parameters on two cores.
 */
export const pyvisionVideoNano: Recipe = {
  name: 'pyvision-video-nano',
  description: 'A small policy learns to fetch frames of a video on demand: PyVision-Video.',
  paper: 'PyVision-RL, arXiv:2602.20739',
  config: {
    policy: 'nano',
    taskSet: 'card-video',
    protocol: 'pyvision-video-short',
    sharedPrefix: true,
    sft: {
      examples: 'card-video',
      demonstrations: 192,
      tours: 512,
      readings: 1024,
      captions: 4096,
      updates: 350,
      batchSize: 8,
      tourBatchSize: 18,
      readingBatchSize: 8,
      captionBatchSize: 64,
      answerWithoutLooking: 0.3,
      learningRate: 8e-4,
      finalFraction: 0.03,
    },
    rl: {
      steps: 16,
      algorithm: 'pyvision-rl',
      scheduler: 'oversample-filter-rank',
      reward: 'pyvision',
      batchSize: 16,
      oversample: 2,
      groupSize: 8,
      ranking: true,
      minibatches: 4,
      temperature: 1,
      learningRate: 1e-4,
      finalFraction: 0.1,
      algorithmSettings: { clipLow: 0.2, clipHigh: 0.2 },
      accumulativeCoefficient: 0.1,
    },
    rollout: { maxToolTurns: 4, maxImages: 8 },
    evaluation: { count: 200, temperature: 1, everySteps: 0 },
    checkpoint: { everySftUpdates: 200, everyRlSteps: 10, keep: 2 },
  },
};
