import { defineRecipe } from '../recipe.ts';
import { turnedColdStart, turnedLimits } from './turned-cold-start.ts';

/**
 * CodeDance at nano size: look where the overview does not suffice, and only there.
 *
 * Protocol, reward and objective are the paper's, arXiv:2512.17312, with the turn advantage's weight of
 * its code; counts and learning rates are fitted to a policy of a million parameters. The prompt only
 * asks, since so small a policy reads no instructions, and small images are not enlarged: the digits
 * that the policy learns to read are one token, and 16 where the protocol makes 112 pixels of 28.
 */
export const codedanceNano = defineRecipe({
  name: 'codedance-nano',
  description: 'A small vision policy learns when to look: CodeDance on easy and hard tables.',
  paper: 'CodeDance, arXiv:2512.17312',
  config: {
    ...turnedColdStart,
    protocol: { name: 'codedance', prompt: 'short', smallSide: 0, ...turnedLimits },
    taskSet: 'graded-needle',
    algorithm: 'codedance',
    scheduler: { name: 'synchronous', promptsPerStep: 16 },
    reward: 'codedance',
    rl: { steps: 25, groupSize: 8, minibatches: 2, temperature: 1, learningRate: 1e-4 },
  },
});
