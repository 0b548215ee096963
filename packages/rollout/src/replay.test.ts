/** Replays of recorded trajectories; replays of a trained policy's are tested in `train`. */
import { SaccadeError } from '@saccade/core';
import type { Env } from '@saccade/gym';
import type { Segment, Trajectory } from '@saccade/trajectory';
import { describe, expect, it } from 'vitest';
import { describeDifference } from './describe-difference.ts';
import { recordedEnv } from './recorded-env.ts';
import { replay } from './replay.ts';
import { rollout } from './rollout.ts';
import type { RolloutOptions } from './rollout-options.ts';
import {
  CharacterProcessor,
  LookEnv,
  ScriptedPolicy,
  shownImage,
  taskOf,
} from './scripted.fixture.ts';

const options: RolloutOptions = {
  seed: 1,
  stream: 'train/3',
  sampleIndex: 2,
  maxTokensPerTurn: 10,
  maxContextTokens: 100,
};
const { stream: _, sampleIndex: __, ...sampling } = options;
const again = { ...sampling, stop: ['</c>'] };

const looksTwice = () => new ScriptedPolicy((_, turn) => (turn < 2 ? 'c!' : 'a7'));

function record(policy = looksTwice(), env: Env = new LookEnv([shownImage])): Promise<Trajectory> {
  return rollout(policy, env, taskOf('t'), options);
}

function withSegment(
  trajectory: Trajectory,
  index: number,
  change: (segment: Segment) => Partial<Segment>,
): Trajectory {
  const segments = trajectory.segments.map((segment, i) =>
    i === index ? { ...segment, ...change(segment) } : segment,
  );
  return { ...trajectory, segments };
}

describe('replay', () => {
  it('asks the policy what it was asked, and gets the same trajectory without an environment', async () => {
    const policy = looksTwice();
    const recorded = await record(policy);
    const replaying = looksTwice();
    const { isExact, trajectory, sampledTokens, differences } = await replay(
      replaying,
      recorded,
      again,
    );
    expect([isExact, differences]).toEqual([true, []]);
    expect(sampledTokens).toBe(3 + 3 + 3);
    expect(trajectory).toEqual(recorded);
    const asked = ({ requests }: ScriptedPolicy) => requests.map(({ signal: _, ...rest }) => rest);
    expect(asked(replaying)).toEqual(asked(policy));
  });

  it('ends where the record ends: full contexts, faults of the environment, too many turns', async () => {
    const full = await rollout(looksTwice(), new LookEnv(), taskOf('t'), {
      ...options,
      maxContextTokens: 22,
    });
    expect(full.stopReason).toBe('lengthLimit');
    expect((await replay(looksTwice(), full, { ...again, maxContextTokens: 22 })).isExact).toBe(
      true,
    );
    const breaks = () => new ScriptedPolicy((_, turn) => (turn < 1 ? 'c!' : 'x'));
    const broken = await record(breaks());
    expect(broken.stopReason).toBe('failed');
    expect((await replay(breaks(), broken, again)).isExact).toBe(true);
    const refuses = () =>
      new ScriptedPolicy((_, turn) => (turn < 1 ? 'c!' : new SaccadeError('engine', 'gone')));
    expect((await replay(refuses(), await record(refuses()), again)).isExact).toBe(true);
    const env = recordedEnv(full, { stop: [] });
    await env.reset(taskOf('t'));
    for (let turn = 0; turn < full.turns.length; turn++) await env.step('c!');
    await expect(env.step('c!')).rejects.toThrow(/the model began another/);
  });

  it('names the first token that differs with what stands before it', async () => {
    const recorded = await record();
    const tampered = withSegment(recorded, 3, ({ tokens }) => ({
      tokens: tokens.map((token, i) => (i === 1 ? 'x'.charCodeAt(0) : token)),
      text: 'cx',
    }));
    const { isExact, differences } = await replay(looksTwice(), tampered, again);
    expect(isExact).toBe(false);
    expect(differences.map(({ kind }) => kind)).toEqual(['token']);
    const [first] = differences;
    if (first === undefined) throw new Error('unreachable');
    expect(describeDifference(first, tampered, new CharacterProcessor())).toMatch(
      /^turn 2, token 2 \(position \d+\): recorded 120 "x" \(.*\), replayed 33 "!" \(.*\), after "c"\.$/,
    );
  });

  it('names a log-prob that differs in its last bit, and goes on behind it', async () => {
    const recorded = await record();
    const tampered = withSegment(recorded, 1, ({ logprobs }) => ({
      logprobs: logprobs?.map((lp, i) => (i === 2 ? lp * (1 + 2 ** -22) : lp)) as Float32Array,
    }));
    const { differences, sampledTokens, largestLogprobDifference } = await replay(
      looksTwice(),
      tampered,
      again,
    );
    expect(differences).toMatchObject([{ kind: 'logprob', segment: 1, token: 2 }]);
    expect(sampledTokens).toBe(9);
    expect(largestLogprobDifference).toBeGreaterThan(0);
    expect(largestLogprobDifference).toBeLessThan(1e-6);
  });

  it('says what a live environment gives otherwise: results, images, tokens', async () => {
    const recorded = await record();
    const env = new LookEnv([
      { ...shownImage, png: new Uint8Array([1, 2, 3, 4]) } as typeof shownImage,
    ]);
    const same = await replay(looksTwice(), recorded, {
      ...again,
      live: { env: new LookEnv([shownImage]), task: taskOf('t') },
    });
    expect(same.isExact).toBe(true);
    const other = await replay(looksTwice(), recorded, {
      ...again,
      live: { env, task: taskOf('t') },
    });
    expect(other.differences).toMatchObject([{ kind: 'image', segment: 2 }]);
  });

  it('waits for the weights of every turn, where they changed on the way', async () => {
    const recorded = await record();
    const mixed = withSegment(recorded, 5, () => ({ policyVersion: 6 }));
    const versions: number[] = [];
    const { differences } = await replay(looksTwice(), mixed, {
      ...again,
      beforeTurn: async (version) => {
        versions.push(version);
      },
    });
    expect(versions).toEqual([5, 5, 6]);
    expect(differences).toMatchObject([{ kind: 'version', segment: 5 }]);
  });

  it('refuses what was never sampled, and what rollout did not name', async () => {
    const recorded = await record();
    const empty = { ...recorded, segments: recorded.segments.slice(0, 1), turns: [] };
    await expect(replay(looksTwice(), empty, again)).rejects.toThrow(/has no turn to replay/);
    const renamed = { ...recorded, id: 'mine' };
    await expect(replay(looksTwice(), renamed, again)).rejects.toThrow(/not named after its task/);
  });
});
