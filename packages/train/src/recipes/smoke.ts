import type { Recipe } from '../recipe.ts';

/**
 * Every stage once, as small as it goes: shows within a minute that a machine can run it all.
 *
 * The cold start is just long enough that some guesses are right and some looks run: without
 * rewards that differ within a group nothing would reach the optimizer.
 */
export const smoke: Recipe = {
  name: 'smoke',
  description: 'Every stage of a run in under a minute, to see that it works; it learns nothing.',
  paper: 'PyVision-RL, arXiv:2602.20739',
  config: {
    policy: 'nano',
    taskSet: 'needle',
    protocol: 'pyvision-image-short',
    sft: {
      demonstrations: 32,
      tours: 8,
      readings: 8,
      captions: 8,
      updates: 16,
      batchSize: 8,
      tourBatchSize: 2,
      readingBatchSize: 2,
      captionBatchSize: 2,
      answerWithoutLooking: 0.6,
      learningRate: 3e-3,
    },
    rl: { steps: 3, batchSize: 2, oversample: 2, groupSize: 8, learningRate: 1e-4 },
    rollout: { maxToolTurns: 2, maxImages: 8, maxTurnTokens: 48 },
    evaluation: { count: 8, keepTrajectories: 8 },
    checkpoint: { everySftUpdates: 5, everyRlSteps: 1, keep: 2 },
    keepTrajectoriesEverySteps: 1,
  },
};
