import { defineRecipe } from '../recipe.ts';
import { turnedColdStart } from './turned-cold-start.ts';

/**
 * CodeVision at nano size: turn an image back, crop to the card, read it.
 *
 * The reward is the paper's, arXiv:2512.03746, eq. 2, on tasks as its benchmark has them: an
 * orientation tool and a crop required, one of them, or none. Its format term is left out, as it wants
 * thoughts, which a policy of a million parameters does not have. Group size, clips and KL are those of
 * its script; counts and learning rates are fitted to the size. It speaks PyVision's protocol, so that
 * it can share the cold start of `codedance-nano`.
 */
export const codevisionNano = defineRecipe({
  name: 'codevision-nano',
  description:
    'A small vision policy learns to turn images back: CodeVision’s must-use tools. It speaks PyVision’s protocol.',
  paper: 'CodeVision, arXiv:2512.03746',
  config: {
    ...turnedColdStart,
    taskSet: 'turned-needle',
    algorithm: 'codevision',
    scheduler: { name: 'synchronous', promptsPerStep: 16 },
    reward: { name: 'codevision', 'format-codevision': { weight: 0 } },
    rl: { steps: 25, groupSize: 8, minibatches: 2, temperature: 1, learningRate: 1e-4 },
  },
});
