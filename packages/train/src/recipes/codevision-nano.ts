import { defineRecipe } from '../recipe.ts';
import { turnedColdStart, turnedLimits } from './turned-cold-start.ts';

/**
 * CodeVision at nano size: turn an image back, crop to the card, read it.
 *
 * Protocol and reward are the paper's, arXiv:2512.03746, §3.1 and eq. 2, on tasks as its benchmark has
 * them: an orientation tool and a crop required, one of them, or none. The prompt only asks, since so
 * small a policy reads no instructions, and thoughts are empty. Group size, clips and KL are those of
 * its script; counts and learning rates are fitted to the size.
 */
export const codevisionNano = defineRecipe({
  name: 'codevision-nano',
  description: 'A small vision policy learns to turn images back: CodeVision’s must-use tools.',
  paper: 'CodeVision, arXiv:2512.03746',
  config: {
    ...turnedColdStart,
    protocol: { name: 'codevision', prompt: 'short', ...turnedLimits },
    taskSet: 'turned-needle',
    algorithm: 'codevision',
    scheduler: { name: 'synchronous', promptsPerStep: 16 },
    reward: 'codevision',
    rl: { steps: 25, groupSize: 8, minibatches: 2, temperature: 1, learningRate: 1e-4 },
  },
});
