/** The greedy rollout that a group's baseline is: beside the group, and none of it. */
import { randomAt } from '@saccade/core';
import { checkTrajectory, everyTrajectory } from '@saccade/trajectory';
import { expect, it } from 'vitest';
import { replay } from './replay.ts';
import { ResumableRollout } from './resumable-rollout.ts';
import { type RunOptions, runRollouts } from './runner.ts';
import { LookEnv, ScriptedPolicy, taskOf } from './scripted.fixture.ts';

const run: RunOptions = { seed: 1, maxTokensPerTurn: 10, maxContextTokens: 100, groupSize: 3 };
const tasks = ['a', 'b'].map(taskOf);
const makeEnv = () => new LookEnv();
/** Answers the first digit where it is greedy, and else what the request's address says. */
const policyOf = () =>
  new ScriptedPolicy(({ temperature, seed }, turn) => {
    if (turn === 0) return 'c';
    return temperature === 0 ? 'a0' : `a${1 + randomAt(seed[0], seed[1]).integer(9)}`;
  });

it('gives every group one trajectory at temperature 0, and changes none of the others', async () => {
  const policy = policyOf();
  const plain = await runRollouts(policyOf(), makeEnv, tasks, run);
  const { groups } = await runRollouts(policy, makeEnv, tasks, { ...run, greedyBaseline: true });
  expect(groups.map(({ baseline: _, ...group }) => group)).toEqual(plain.groups);
  for (const { taskId, trajectories, baseline } of groups) {
    expect(baseline).toMatchObject({
      id: `${taskId}/3`,
      taskId,
      sampleIndex: 3,
      isBaseline: true,
      answer: '0',
    });
    expect(trajectories.every(({ isBaseline }) => isBaseline === undefined)).toBe(true);
    for (const one of everyTrajectory({ taskId, trajectories, ...(baseline && { baseline }) })) {
      checkTrajectory(one);
    }
  }
  const greedy = policy.requests.filter(({ temperature }) => temperature === 0);
  expect([...new Set(greedy.map(({ conversation }) => conversation))].sort()).toEqual([
    'a/3',
    'b/3',
  ]);
  // The prompt is computed once for all of them, and let go once.
  expect(new Set(greedy.map(({ sharedPrefix }) => sharedPrefix?.key))).toEqual(
    new Set(['/a/prompt', '/b/prompt']),
  );
  expect(policy.released.filter((key) => key === '/a/prompt')).toHaveLength(1);
});

it('shares its prompt with a group of one', async () => {
  const policy = policyOf();
  const options = { ...run, groupSize: 1, greedyBaseline: true };
  const { groups } = await runRollouts(policy, makeEnv, tasks, options);
  expect(groups.map(({ trajectories }) => trajectories.length)).toEqual([1, 1]);
  expect(policy.requests.every(({ sharedPrefix }) => sharedPrefix !== undefined)).toBe(true);
});

it('keeps a baseline that failed as a failure', async () => {
  const policy = new ScriptedPolicy(({ temperature }) =>
    temperature === 0 ? new Error('gone') : 'a7',
  );
  const options = { ...run, greedyBaseline: true, retries: 1 };
  const { groups, failures, retries } = await runRollouts(policy, makeEnv, tasks, options);
  expect(groups.map(({ baseline }) => baseline?.stopReason)).toEqual(['failed', 'failed']);
  expect(groups.every(({ trajectories }) => trajectories.length === 3)).toBe(true);
  expect([failures, retries]).toEqual([{ policy: 2 }, 2]);
});

it('is replayed at temperature 0, whatever the temperature of the run', async () => {
  const options = { ...run, greedyBaseline: true };
  const { groups } = await runRollouts(policyOf(), makeEnv, tasks, options);
  const policy = policyOf();
  const { groupSize: _, ...sampling } = run;
  const { baseline } = groups[0] ?? {};
  if (baseline === undefined) throw new Error('unreachable');
  const replayed = await replay(policy, baseline, { ...sampling, temperature: 1, stop: ['</c>'] });
  expect(replayed.differences).toEqual([]);
  expect(policy.requests.map(({ temperature }) => temperature)).toEqual([0, 0]);
});

it('says what there is of one that was stopped', async () => {
  const [task = taskOf('a')] = tasks;
  const options = { ...run, sampleIndex: 3, isBaseline: true };
  const open = new ResumableRollout(policyOf(), makeEnv, task, options);
  const mark = { id: 'a/3', isBaseline: true, stopReason: 'failed' };
  expect(open.soFar()).toMatchObject({ ...mark, failure: { cause: 'cancelled' }, turns: [] });
  await open.turn();
  expect(open.soFar()).toMatchObject({ ...mark, failure: { cause: 'cancelled' } });
  expect(open.soFar().turns).toHaveLength(1);
  await open.dispose();
});
