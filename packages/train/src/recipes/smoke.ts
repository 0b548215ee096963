import { defineRecipe } from '../recipe.ts';
import { nanoOptimizers } from './nano-optimizers.ts';

/**
 * Every stage once, as small as it goes: shows within a minute that a machine can run it all.
 *
 * The cold start is just long enough that some guesses are right and some looks run: without
 * rewards that differ within a group nothing would reach the optimizer.
 */
export const smoke = defineRecipe({
  name: 'smoke',
  description: 'Every stage of a run in under a minute, to see that it works; it learns nothing.',
  paper: 'PyVision-RL, arXiv:2602.20739',
  config: {
    model: 'nano',
    taskSet: 'needle',
    protocol: {
      name: 'pyvision-image-short',
      toolTurns: 2,
      images: 8,
      evaluationToolTurns: 2,
      evaluationImages: 8,
    },
    coldStart: {
      name: 'needle',
      demonstrations: 32,
      tours: 8,
      readings: 8,
      captions: 8,
      batchSize: 8,
      tourBatchSize: 2,
      readingBatchSize: 2,
      captionBatchSize: 2,
      answerWithoutLooking: 0.6,
    },
    sft: { updates: 16, learningRate: 3e-3 },
    ...nanoOptimizers({ sftFinalFraction: 0.1, finalFraction: 1 }),
    scheduler: { name: 'oversample-filter-rank', promptsPerStep: 2, oversample: 2 },
    rl: { steps: 3, groupSize: 8, learningRate: 1e-4, keepTrajectoriesEverySteps: 1 },
    rollout: { maxTurnTokens: 48 },
    evaluation: { count: 8, keepTrajectories: 8 },
    checkpoint: { everySftUpdates: 5, everyRlSteps: 1, keep: 2 },
  },
});
