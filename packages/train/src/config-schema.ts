/** Unit, range, default and one sentence for every field of a run's configuration. */
import { z } from 'zod';
import type { RunConfig } from './config.ts';
import { choice, count, flag, name, quantity, settings, weights } from './config-kinds.ts';
import { engine } from './engine-schema.ts';
import { rollout } from './rollout-schema.ts';
import { sft } from './sft-schema.ts';

const judge = z.strictObject({
  baseUrl: name(
    'none',
    'URL',
    'OpenAI-compatible server whose model judges, up to /v1; none for no judge.',
  ),
  model: name('none', 'name', 'The model that judges, as the server calls it.'),
  keyVariable: name(
    'none',
    'name',
    'Environment variable with the server’s API key; none for none.',
  ),
  judgesAnswers: flag(false, 'Put answers that the verifier refuses before the judge as well.'),
  maxConcurrent: count({
    min: 1,
    max: 4096,
    preset: 16,
    unit: 'calls',
    about: 'Calls of the judge at a time.',
  }),
  timeoutSeconds: quantity({
    min: 0.1,
    max: 3600,
    preset: 60,
    unit: 'seconds',
    about: 'Time of one call of the judge.',
  }),
  retries: count({
    min: 0,
    max: 100,
    preset: 3,
    unit: 'tries',
    about: 'Tries after the first before the judge has failed; then the trajectory has no reward.',
  }),
  maxTokens: count({
    min: 1,
    max: 100_000,
    preset: 512,
    unit: 'tokens',
    about: 'Longest reply of the judge.',
  }),
});

const rl = z.strictObject({
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
  rewardWeights: weights('Weights of reward terms that are not the preset’s; 0 leaves a term out.'),
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
  maxStaleness: count({
    min: 0,
    max: 1000,
    preset: 1,
    unit: 'steps',
    about: 'η: steps between sampling and training at most, where a scheduler is asynchronous.',
  }),
  tooStale: choice(
    'drop',
    ['drop', 'wait'],
    'What becomes of a group about to be too stale: it is dropped, or the batch waits for it.',
  ),
  onUpdate: choice(
    'continue',
    ['continue', 'restart'],
    'What becomes of rollouts that new weights interrupt: they go on, or begin anew.',
  ),
  maxRestarts: count({
    min: 0,
    max: 1000,
    preset: 1,
    unit: 'times',
    about: 'Times a task is begun anew for new weights; then it goes on.',
  }),
  staleCaches: choice(
    'recompute',
    ['recompute', 'keep'],
    'Keys and values of running rollouts when new weights come: computed anew, or kept as they are.',
  ),
  deterministic: flag(
    false,
    'Asynchronous rollouts go turn by turn in step with training: the same seed, the same run.',
  ),
  maxInFlight: count({
    min: 0,
    max: 1_000_000,
    preset: 0,
    unit: 'trajectories',
    about: 'Trajectories in flight at most, where a scheduler is asynchronous; 0 for no limit.',
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
  judge: judge.prefault({}),
});

const evaluation = z.strictObject({
  count: count({
    min: 1,
    max: 1_000_000,
    preset: 200,
    unit: 'tasks',
    about: 'Held-out tasks per evaluation, always the first ones, so evaluations compare.',
  }),
  temperature: quantity({
    min: 0,
    max: 10,
    preset: 0,
    unit: 'ratio',
    about: 'Sampling temperature of evaluations; 0 takes the most likely token.',
  }),
  everySteps: count({
    min: 0,
    max: 1_000_000,
    preset: 0,
    unit: 'steps',
    about: 'Evaluate during reinforcement learning every so many steps; 0 only before and after.',
  }),
  keepTrajectories: count({
    min: 0,
    max: 100_000,
    preset: 24,
    unit: 'trajectories',
    about: 'Trajectories of each evaluation written to disk with their pictures.',
  }),
});

const checkpoint = z.strictObject({
  everySftUpdates: count({
    min: 1,
    max: 1_000_000,
    preset: 200,
    unit: 'updates',
    about: 'Updates of the cold start between checkpoints.',
  }),
  everyRlSteps: count({
    min: 1,
    max: 1_000_000,
    preset: 10,
    unit: 'steps',
    about: 'Reinforcement-learning steps between checkpoints.',
  }),
  keep: count({
    min: 1,
    max: 1_000_000,
    preset: 3,
    unit: 'checkpoints',
    about: 'Newest checkpoints kept; the one that ends the cold start is kept besides.',
  }),
});

/** The schema of a whole configuration; unknown keys are errors. */
export const runConfigSchema: z.ZodType<RunConfig, unknown> = z.strictObject({
  recipe: name('pyvision-image-nano', 'name', 'The recipe these values started from.'),
  startFrom: name(
    'none',
    'directory',
    'A run whose cold start this one takes over, or a policy; none for a cold start of its own.',
  ),
  seed: count({
    min: 0,
    max: 0xffffffff,
    preset: 1,
    unit: '32-bit integer',
    about: 'Seed of every random stream: weights, tasks, shuffling, sampling.',
  }),
  backend: choice(
    'auto',
    ['auto', 'native', 'cuda', 'webgpu', 'reference'],
    'What runs the kernels; auto takes native.',
  ),
  threads: count({
    min: 0,
    max: 1024,
    preset: 0,
    unit: 'threads',
    about: 'Kernel threads; 0 takes one per core. The results do not depend on it.',
  }),
  policy: name('nano', 'name', 'Size preset of the policy.'),
  taskSet: name('needle', 'name', 'Where tasks come from.'),
  protocol: name('pyvision-image', 'name', 'How the model talks to its tools.'),
  sharedPrefix: flag(
    true,
    'Compute a group’s prompt and picture once instead of once per rollout.',
  ),
  microBatchTokens: count({
    min: 64,
    max: 100_000_000,
    preset: 8192,
    unit: 'tokens',
    about: 'Packed tokens per forward and backward pass; changes memory and speed only.',
  }),
  keepTrajectoriesEverySteps: count({
    min: 0,
    max: 1_000_000,
    preset: 10,
    unit: 'steps',
    about: 'Training trajectories are written to disk every so many steps; 0 for never.',
  }),
  sft: sft.prefault({}),
  rl: rl.prefault({}),
  rollout: rollout.prefault({}),
  engine: engine.prefault({}),
  evaluation: evaluation.prefault({}),
  checkpoint: checkpoint.prefault({}),
});
