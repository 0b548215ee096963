import { checkTrajectory, type Trajectory } from '@saccade/trajectory';
import { describe, expect, it } from 'vitest';
import { rollout } from './rollout.ts';
import type { RolloutOptions } from './rollout-options.ts';
import { LookEnv, ScriptedPolicy, shownImage, taskOf } from './scripted.fixture.ts';

const options: RolloutOptions = { seed: 1, maxTokensPerTurn: 10, maxContextTokens: 100 };

function kinds(trajectory: Trajectory): string {
  return trajectory.segments.map((segment) => segment.kind[0]).join('');
}

describe('rollout', () => {
  it('records prompt, turns and observations, token in, token out', async () => {
    const policy = new ScriptedPolicy((_, turn) => (turn < 2 ? 'c!' : 'a7'));
    const trajectory = await rollout(policy, new LookEnv([shownImage]), taskOf('t'), options);
    checkTrajectory(trajectory);
    expect(kinds(trajectory)).toBe('pmomom');
    expect(trajectory).toMatchObject({
      id: 't/0',
      stopReason: 'answered',
      answer: '7',
      policyVersion: 5,
    });
    expect(trajectory.turns.map((turn) => turn.segment)).toEqual([1, 3, 5]);
    expect(trajectory.segments[0]?.images[0]).toMatchObject({
      width: 640,
      modelWidth: 28,
      tokenCount: 3,
    });
    // Every request is the ledger up to there, with all its images.
    policy.requests.forEach((request, turn) => {
      const before = trajectory.segments.slice(0, 2 * turn + 1);
      expect([...request.tokens]).toEqual(before.flatMap((segment) => [...segment.tokens]));
      expect(request.images).toHaveLength(turn + 1);
      expect(request.stop).toEqual(['</c>']);
    });
    expect(policy.released).toEqual(['t/0']);
  });

  it('asks for no more than the turn and the context have left', async () => {
    // The prompt has 9 tokens, a turn 3 (with its end), an observation 5.
    const policy = new ScriptedPolicy(() => 'c!');
    await rollout(policy, new LookEnv(), taskOf('t'), { ...options, maxContextTokens: 22 });
    expect(policy.requests.map((request) => request.maxTokens)).toEqual([10, 5]);
  });

  it('ends as lengthLimit rather than append an observation nothing could follow', async () => {
    for (const maxContextTokens of [16, 17]) {
      const policy = new ScriptedPolicy(() => 'c!');
      const trajectory = await rollout(policy, new LookEnv(), taskOf('t'), {
        ...options,
        maxContextTokens,
      });
      checkTrajectory(trajectory);
      expect([kinds(trajectory), trajectory.stopReason]).toEqual(['pm', 'lengthLimit']);
    }
    const policy = new ScriptedPolicy(() => 'c!');
    const roomy = await rollout(policy, new LookEnv(), taskOf('t'), {
      ...options,
      maxContextTokens: 18,
    });
    expect(kinds(roomy)).toBe('pmom');
  });

  it('counts the placeholders of images', async () => {
    const policy = new ScriptedPolicy(() => 'c!');
    const limits = { ...options, maxContextTokens: 21 };
    const trajectory = await rollout(policy, new LookEnv([shownImage]), taskOf('t'), limits);
    expect([kinds(trajectory), trajectory.stopReason]).toEqual(['pm', 'lengthLimit']);
    expect(trajectory.segments.flatMap((segment) => segment.images)).toHaveLength(1);
  });

  it('ends as lengthLimit without a turn when the prompt already fills the context', async () => {
    const policy = new ScriptedPolicy(() => 'a7');
    const limits = { ...options, maxContextTokens: 9 };
    const trajectory = await rollout(policy, new LookEnv(), taskOf('t'), limits);
    checkTrajectory(trajectory);
    expect([kinds(trajectory), trajectory.stopReason]).toEqual(['p', 'lengthLimit']);
    expect(policy.requests).toHaveLength(0);
  });

  it('lets the environment read a turn that was cut off', async () => {
    const limits = { ...options, maxTokensPerTurn: 2 };
    const answer = await rollout(
      new ScriptedPolicy(() => 'a7!'),
      new LookEnv(),
      taskOf('t'),
      limits,
    );
    expect([answer.stopReason, answer.answer]).toEqual(['answered', '7']);
    const chatter = new ScriptedPolicy(() => 'hmmm');
    const cut = await rollout(chatter, new LookEnv(), taskOf('t'), limits);
    expect(cut.stopReason).toBe('lengthLimit');
    expect(cut.turns[0]?.action).toEqual({ kind: 'invalid', reason: 'noCodeNorAnswer' });
    const whole = await rollout(chatter, new LookEnv(), taskOf('t'), options);
    expect(whole.stopReason).toBe('invalidAction');
    // The observation closes a turn that the model did not end itself.
    const unended = await rollout(
      new ScriptedPolicy(() => 'c!'),
      new LookEnv(),
      taskOf('t'),
      limits,
    );
    expect(unended.segments[2]?.text).toBe('$|seen');
  });

  it.each<[string, () => string | Error, string]>([
    ['policy', () => new Error('out of memory'), 'out of memory'],
    ['sandbox', () => 'x', 'the fork server died'],
    ['env', () => 'y', 'y is not a function'],
  ])('makes what breaks in the %s a failure, not an error', async (boundary, say, message) => {
    const policy = new ScriptedPolicy((_, turn) => (turn === 0 ? 'c' : say()));
    const trajectory = await rollout(policy, new LookEnv(), taskOf('t'), options);
    checkTrajectory(trajectory);
    expect(trajectory).toMatchObject({ stopReason: 'failed', failure: { boundary, message } });
    expect(trajectory.segments.at(-1)?.kind).toBe('model');
    expect(policy.released).toEqual(['t/0']);
  });

  it('fails if the environment neither goes on nor stops', async () => {
    const env = new LookEnv();
    env.step = async () => ({ action: { kind: 'code', code: '' } });
    const trajectory = await rollout(new ScriptedPolicy(() => 'c'), env, taskOf('t'), options);
    expect(trajectory.failure?.message).toMatch(/neither an observation nor a stop reason/);
  });

  it('draws from an address made of seed, stream, task, sample and turn', async () => {
    const seedsOf = async (changes: Partial<RolloutOptions>, id = 't'): Promise<string[]> => {
      const policy = new ScriptedPolicy((_, turn) => (turn < 1 ? 'c' : 'a7'));
      await rollout(policy, new LookEnv(), taskOf(id), { ...options, ...changes });
      return policy.requests.map((request) => request.seed.join());
    };
    const base = await seedsOf({});
    expect(await seedsOf({})).toEqual(base);
    const others = [{ seed: 2 }, { stream: 'eval' }, { sampleIndex: 1 }].map((o) => seedsOf(o));
    const all = [base, ...(await Promise.all(others)), await seedsOf({}, 'u')].flat();
    expect(new Set(all).size).toBe(10);
  });

  it('refuses budgets that leave no room', async () => {
    const call = rollout(new ScriptedPolicy(() => 'a7'), new LookEnv(), taskOf('t'), {
      ...options,
      maxTokensPerTurn: 0,
    });
    await expect(call).rejects.toThrow(/maxTokensPerTurn must be a whole number of at least 1/);
  });
});
