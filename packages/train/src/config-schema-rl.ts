/** Unit, range, default and one sentence for every field of the reinforcement-learning stage. */
import { z } from 'zod';
import type { RlConfig } from './config.ts';
import { count, flag, name, quantity, settings } from './config-kinds.ts';

/** The fields under `rl`; unknown keys are errors. */
export const rl: z.ZodType<RlConfig, unknown> = z.strictObject({
  steps: count({
    min: 0,
    max: 1_000_000,
    preset: 100,
    unit: 'steps',
    about: 'Reinforcement-learning steps; 0 stops after the cold start.',
  }),
  algorithm: name('pyvision-rl', 'name', 'How rewards become advantages and a loss.'),
  profile: name(
    'none',
    'name',
    'Whose epsilons and clamps the algorithm has: paper, verl or trl; none for its defaults.',
  ),
  algorithmSettings: settings('Numbers and names of the algorithm that are not at their defaults.'),
  scheduler: name(
    'oversample-filter-rank',
    'name',
    'Which tasks are rolled out and which trajectories are trained on.',
  ),
  reward: name(
    'pyvision',
    'name',
    'Reward preset, as its paper has it; codevision/code for what its public code has.',
  ),
  batchSize: count({
    min: 1,
    max: 65_536,
    preset: 16,
    unit: 'tasks',
    about: 'B: tasks whose groups are trained on in a step (B·G trajectories).',
  }),
  oversample: quantity({
    min: 1,
    max: 64,
    preset: 2,
    unit: 'factor',
    about: 'α: α·B tasks are rolled out, then filtered and ranked down to B·G trajectories.',
  }),
  groupSize: count({
    min: 2,
    max: 1024,
    preset: 8,
    unit: 'trajectories',
    about: 'G: trajectories sampled per task.',
  }),
  ranking: flag(true, 'Keep the trajectories of the groups with the largest reward spread first.'),
  maxRounds: count({
    min: 1,
    max: 1000,
    preset: 10,
    unit: 'rounds',
    about: 'Rounds of rolling out in a step at most, where a scheduler fills its batch.',
  }),
  minibatches: count({
    min: 1,
    max: 1024,
    preset: 1,
    unit: 'updates',
    about: 'Optimizer updates a step’s batch is split into; above 1 the later ones are off-policy.',
  }),
  temperature: quantity({
    min: 0.01,
    max: 10,
    preset: 1,
    unit: 'ratio',
    about: 'Sampling temperature of training rollouts; log-probs are those of this distribution.',
  }),
  learningRate: quantity({
    min: 0,
    max: 1,
    preset: 1e-4,
    unit: 'per update',
    about: 'Peak learning rate of AdamW in reinforcement learning.',
  }),
  warmupFraction: quantity({
    min: 0,
    max: 1,
    preset: 0,
    unit: 'fraction of steps',
    about: 'Share of the steps over which the learning rate rises linearly from 0.',
  }),
  finalFraction: quantity({
    min: 0,
    max: 1,
    preset: 1,
    unit: 'fraction of peak',
    about: 'Where the cosine decay of the learning rate ends; 1 keeps it constant.',
  }),
  weightDecay: quantity({
    min: 0,
    max: 1,
    preset: 0,
    unit: 'per update',
    about: 'Decoupled weight decay in reinforcement learning.',
  }),
  maxGradNorm: quantity({
    min: 0,
    max: 1e6,
    preset: 1,
    unit: 'L2 norm',
    about: 'The global gradient norm is clipped to this; 0 for no clipping.',
  }),
  accumulativeCoefficient: quantity({
    min: 0,
    max: 10,
    preset: 0.1,
    unit: 'reward per tool call',
    about: 'Bonus per tool call of a trajectory whose answer is right; 0 rewards accuracy alone.',
  }),
});
