/** Unit, range, default and one sentence for every field of a run's configuration. */
import { z } from 'zod';
import type { RunConfig } from './config.ts';
import { choice, count, flag, name, quantity } from './config-kinds.ts';
import { rl } from './config-schema-rl.ts';

const sft = z.strictObject({
  demonstrations: count({
    min: 0,
    max: 1_000_000,
    preset: 1024,
    unit: 'trajectories',
    about: 'Programmatic demonstrations executed in the sandbox for the cold start.',
  }),
  tours: count({
    min: 0,
    max: 1_000_000,
    preset: 1024,
    unit: 'trajectories',
    about: 'Executed demonstrations that visit the cards; they teach where to look and to read.',
  }),
  tourCards: count({
    min: 1,
    max: 15,
    preset: 4,
    unit: 'cards',
    about: 'Cards on the table of a tour at most: more show more places in one picture.',
  }),
  readings: count({
    min: 0,
    max: 1_000_000,
    preset: 2048,
    unit: 'examples',
    about: 'One-turn examples with a card in the context: reading, without the sandbox.',
  }),
  captions: count({
    min: 0,
    max: 1_000_000,
    preset: 4096,
    unit: 'examples',
    about: 'Looks at a digit followed by which one it is: seeing, at little cost.',
  }),
  updates: count({
    min: 0,
    max: 1_000_000,
    preset: 400,
    unit: 'updates',
    about: 'Optimizer updates of the cold start; 0 skips it.',
  }),
  batchSize: count({
    min: 1,
    max: 65_536,
    preset: 16,
    unit: 'trajectories',
    about: 'Demonstrations per optimizer update.',
  }),
  tourBatchSize: count({
    min: 0,
    max: 65_536,
    preset: 16,
    unit: 'examples',
    about: 'Tours per update: demonstrations whose decisions are given, not learned.',
  }),
  readingBatchSize: count({
    min: 0,
    max: 65_536,
    preset: 32,
    unit: 'examples',
    about: 'Reading examples per update.',
  }),
  captionBatchSize: count({
    min: 0,
    max: 65_536,
    preset: 64,
    unit: 'examples',
    about: 'Captions per update.',
  }),
  answerWithoutLooking: quantity({
    min: 0,
    max: 1,
    preset: 0.3,
    unit: 'probability',
    about: 'Demonstrations that answer before any look.',
  }),
  lookAtNothing: quantity({
    min: 0,
    max: 1,
    preset: 0.1,
    unit: 'probability',
    about: 'Demonstrated looks that go to a random place instead of the next card.',
  }),
  answerAfterSeeing: quantity({
    min: 0,
    max: 1,
    preset: 0.8,
    unit: 'probability',
    about: 'Demonstrations that answer once the digit was seen, rather than look on.',
  }),
  answerAfterMissing: quantity({
    min: 0,
    max: 1,
    preset: 0.4,
    unit: 'probability',
    about: 'Demonstrations that answer after a look that did not show the digit.',
  }),
  learningRate: quantity({
    min: 0,
    max: 1,
    preset: 1e-3,
    unit: 'per update',
    about: 'Peak learning rate of AdamW in the cold start.',
  }),
  warmupFraction: quantity({
    min: 0,
    max: 1,
    preset: 0.05,
    unit: 'fraction of updates',
    about: 'Share of the updates over which the learning rate rises linearly from 0.',
  }),
  finalFraction: quantity({
    min: 0,
    max: 1,
    preset: 0.1,
    unit: 'fraction of peak',
    about: 'Where the cosine decay of the learning rate ends; 1 keeps it constant.',
  }),
  weightDecay: quantity({
    min: 0,
    max: 1,
    preset: 0.01,
    unit: 'per update',
    about: 'Decoupled weight decay in the cold start.',
  }),
  maxGradNorm: quantity({
    min: 0,
    max: 1e6,
    preset: 1,
    unit: 'L2 norm',
    about: 'The global gradient norm is clipped to this; 0 for no clipping.',
  }),
});

const rollout = z.strictObject({
  maxToolTurns: count({
    min: 0,
    max: 1000,
    preset: 4,
    unit: 'turns',
    about: 'Code executions allowed in a trajectory, the answer on top; unset, the protocol’s.',
  }),
  maxImages: count({
    min: 1,
    max: 1000,
    preset: 8,
    unit: 'pictures',
    about: 'Pictures allowed in a context, the first ones included; unset, the protocol’s.',
  }),
  maxTurnTokens: count({
    min: 1,
    max: 1_000_000,
    preset: 128,
    unit: 'tokens',
    about: 'Tokens the model may write in one turn.',
  }),
  maxContextTokens: count({
    min: 16,
    max: 10_000_000,
    preset: 2048,
    unit: 'tokens',
    about: 'Tokens of a whole trajectory, prompt and observations included.',
  }),
  concurrency: count({
    min: 1,
    max: 65_536,
    preset: 256,
    unit: 'trajectories',
    about: 'Trajectories in flight at once.',
  }),
  sandboxWallSeconds: quantity({
    min: 0.1,
    max: 3600,
    preset: 10,
    unit: 'seconds',
    about: 'Wall clock of one code execution; what runs longer is killed.',
  }),
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
  evaluation: evaluation.prefault({}),
  checkpoint: checkpoint.prefault({}),
});
