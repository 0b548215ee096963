import type { Sampler } from '@saccade/policy';
import { TrajectoryBuilder } from '@saccade/trajectory';
import { expect, it } from 'vitest';
import { InFlightTask } from './in-flight-task.ts';
import type { Run } from './run.ts';

const released: string[] = [];
const policy = { release: (key: string) => released.push(key) } as unknown as Sampler;
const task = { id: 't', question: '?', images: [], answer: '7', metadata: {} };

function taskOf(needs: readonly string[]): InFlightTask {
  const run = {
    config: {
      seed: 1,
      rl: { groupSize: 2, temperature: 1 },
      rollout: { maxTurnTokens: 8, maxContextTokens: 64, retries: 0 },
      packing: { sharedPrefix: true },
    },
    parts: { algorithm: { needs } },
    onEvent: () => {},
  } as unknown as Run;
  return new InFlightTask({ run, policy, task, index: 5, ordinal: 3 });
}

const ended = new TrajectoryBuilder({ id: 'train/3/t/0', taskId: 't', sampleIndex: 0 }).fail({
  boundary: 'env',
  message: 'gone',
});

it('rolls out a group, and its baseline beside it where the algorithm needs one', () => {
  expect(taskOf(['terms']).samples.map(({ isBaseline }) => isBaseline)).toEqual([false, false]);
  const { samples, group } = taskOf(['greedyReward']);
  expect(samples.map(({ isBaseline }) => isBaseline)).toEqual([false, false, true]);
  expect(group.trajectories).toEqual([]);
});

it('gives a baseline that was stopped as a failure, for its group to fail with', () => {
  const open = taskOf(['greedyReward']);
  const [first] = open.samples;
  if (first !== undefined) first.trajectory = ended;
  open.stop('deadline');
  const { group } = open;
  expect(group.trajectories).toEqual([ended]);
  expect(group.baseline).toMatchObject({
    id: 'train/3/t/2',
    sampleIndex: 2,
    isBaseline: true,
    stopReason: 'failed',
    failure: { cause: 'cancelled' },
  });
  expect(open.hasEnded).toBe(false);
  expect(released).toContain('train/3/t/prompt');
});

it('is stored and found again with its baseline', () => {
  const open = taskOf(['greedyReward']);
  const baseline = open.samples[2];
  if (baseline !== undefined) baseline.trajectory = { ...ended, id: 'train/3/t/2' };
  const { stored, trajectories } = open.store();
  expect(stored.samples.map((one) => one.ended)).toEqual([undefined, undefined, 'train/3/t/2']);
  expect(trajectories.map(({ id }) => id)).toEqual(['train/3/t/2']);
});
