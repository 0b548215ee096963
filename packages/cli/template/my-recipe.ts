/** The recipe: which units a run is made of. Train it with: npx saccade train ./my-recipe.ts */
import { defineRecipe, use } from '@saccade/train';
import { medianGrpo } from './src/algorithm.ts';
import { oneLook } from './src/cold-start.ts';
import { lookOnce } from './src/reward.ts';
import { brighterHalf } from './src/tasks.ts';
import { boostContrast } from './src/tool.ts';

export const recipe = defineRecipe({
  name: 'my-agent',
  description: 'A small vision policy learns which half of an image is brighter.',
  config: {
    // A unit itself, a unit with settings, or the name of one that Saccade has.
    taskSet: use(brighterHalf, { contrast: 6 }),
    tools: [boostContrast],
    protocol: { name: 'vista', toolTurns: 1 },
    coldStart: oneLook,
    reward: lookOnce,
    algorithm: medianGrpo,
    model: 'nano',
    sft: { updates: 16, learningRate: 3e-3 },
    scheduler: { name: 'synchronous', promptsPerStep: 4 },
    rl: { steps: 5, groupSize: 8, learningRate: 1e-4, keepTrajectoriesEverySteps: 1 },
    rollout: { maxTurnTokens: 48 },
    evaluation: { count: 16, keepTrajectories: 4 },
    checkpoint: { everyRlSteps: 1 },
  },
});
