import type { Recipe } from '../recipe.ts';
import { turnedColdStart } from './turned-cold-start.ts';

/**
 * CodeDance at nano size: look where the overview does not suffice, and only there.
 *
 * Reward and objective are the paper's, arXiv:2512.17312, with the turn advantage's weight of its
 * code; counts and learning rates are fitted to a policy of a million parameters.
 */
export const codedanceNano: Recipe = {
  name: 'codedance-nano',
  description: 'A small vision policy learns when to look: CodeDance on easy and hard tables.',
  paper: 'CodeDance, arXiv:2512.17312',
  config: {
    ...turnedColdStart,
    taskSet: 'graded-needle',
    rl: {
      steps: 25,
      algorithm: 'codedance',
      scheduler: 'synchronous',
      reward: 'codedance',
      batchSize: 16,
      groupSize: 8,
      minibatches: 2,
      temperature: 1,
      learningRate: 1e-4,
      finalFraction: 0.1,
    },
  },
};
