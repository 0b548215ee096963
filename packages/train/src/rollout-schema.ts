/** Unit, range, default and one sentence for the fields of rollouts. */
import { z } from 'zod';
import type { RolloutConfig } from './config.ts';
import { count, flag, name, quantity } from './config-kinds.ts';

export const rollout: z.ZodType<RolloutConfig, unknown> = z.strictObject({
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
  initialFrames: count({
    min: 0,
    max: 1000,
    preset: 0,
    unit: 'frames',
    about:
      'Frames of each video in the context from the start; 0: the model fetches what it wants.',
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
  unsafeSandbox: flag(
    false,
    'Run code as plain processes where nothing isolates: it can use your files and network.',
  ),
  sandboxHosts: name(
    'none',
    'URLs',
    'Servers of `saccade serve sandbox` that run the code, with commas between; none for this machine.',
  ),
  sandboxTokenVariable: name(
    'SACCADE_SANDBOX_TOKEN',
    'name',
    'Environment variable with the servers’ token; not set for none.',
  ),
  deadlineSeconds: quantity({
    min: 0,
    max: 1e6,
    preset: 0,
    unit: 'seconds',
    about:
      'Time of a trajectory with all its tries, of a task where a scheduler is asynchronous; 0 for none.',
  }),
  retries: count({
    min: 0,
    max: 100,
    preset: 2,
    unit: 'tries',
    about:
      'Tries after the first of a trajectory around which something broke, and of its scoring.',
  }),
  slowShare: quantity({
    min: 0,
    max: 1,
    preset: 0,
    unit: 'fraction of tasks',
    about: 'Tasks whose tools answer late, to measure what slow tools cost.',
  }),
  slowSeconds: quantity({
    min: 0,
    max: 3600,
    preset: 1,
    unit: 'seconds',
    about: 'By how much the tools of slow tasks are late.',
  }),
});
