import { getEventListeners } from 'node:events';
import { randomAt, SaccadeError } from '@saccade/core';
import type { Env } from '@saccade/gym';
import { checkTrajectory } from '@saccade/trajectory';
import { describe, expect, it } from 'vitest';
import { ModelImages } from './model-images.ts';
import { type RunOptions, rolloutGroup, runRollouts } from './runner.ts';
import {
  CharacterProcessor,
  LookEnv,
  ScriptedPolicy,
  shownImage,
  taskOf,
} from './scripted.fixture.ts';

describe('runRollouts', () => {
  const run: RunOptions = { seed: 1, maxTokensPerTurn: 10, maxContextTokens: 100, groupSize: 4 };
  const tasks = ['a', 'b', 'c', 'd', 'e'].map(taskOf);
  /** Looks or answers at random, by the request's address alone. */
  const random = () =>
    new ScriptedPolicy((request) => {
      const draw = randomAt(request.seed[0], request.seed[1]).integer(5);
      return draw < 2 ? 'c' : draw < 4 ? `a${draw}` : 'hm';
    });

  it('gives the same groups in the order of the tasks, whatever the concurrency', async () => {
    const results = await Promise.all(
      [1, 3, 128].map((concurrency) =>
        runRollouts(random(), () => new LookEnv([shownImage]), tasks, { ...run, concurrency }),
      ),
    );
    expect(results[0]?.groups.map((group) => group.taskId)).toEqual(['a', 'b', 'c', 'd', 'e']);
    expect(results[1]).toEqual(results[0]);
    expect(results[2]).toEqual(results[0]);
    for (const trajectory of results.flatMap((one) => one.groups).flatMap((g) => g.trajectories)) {
      checkTrajectory(trajectory);
    }
  });

  it('keeps to the concurrency, prepares a shared image once, and disposes everything', async () => {
    const policy = random();
    const before = LookEnv.open;
    const progress: number[] = [];
    await runRollouts(policy, () => new LookEnv(), tasks, {
      ...run,
      concurrency: 3,
      events: (event) => event.kind === 'progress' && progress.push(event.done),
    });
    expect(policy.mostRunning).toBe(3);
    expect(policy.processor.prepared).toBe(tasks.length);
    expect(LookEnv.open).toBe(before);
    expect(progress).toEqual(Array.from({ length: 20 }, (_, i) => i + 1));
  });

  it('names a shared prefix per group, and releases it when the group is done', async () => {
    const policy = random();
    const [task = taskOf('a')] = tasks;
    await rolloutGroup(policy, () => new LookEnv(), task, run);
    const prefixes = policy.requests.map((request) => request.sharedPrefix);
    expect(new Set(prefixes.map((prefix) => prefix?.key))).toEqual(new Set(['/a/prompt']));
    expect(prefixes.every((prefix) => prefix?.length === 9)).toBe(true);
    expect(policy.released.at(-1)).toBe('/a/prompt');
    const alone = random();
    await runRollouts(alone, () => new LookEnv(), tasks, { ...run, sharedPrefix: false });
    expect(alone.requests.every((request) => request.sharedPrefix === undefined)).toBe(true);
  });

  it('gives a task that stands twice two different draws', async () => {
    const twice = [taskOf('a'), taskOf('a')];
    const { groups } = await runRollouts(random(), () => new LookEnv(), twice, run);
    const ids = groups.flatMap((group) => group.trajectories.map((one) => one.id));
    expect(new Set(ids).size).toBe(8);
  });

  it('tries a failed trajectory again with the same draw, and counts it', async () => {
    let breaks = 3;
    const makeEnv = (): Env => {
      if (breaks-- > 0) throw new SaccadeError('sandbox', 'no room');
      return new LookEnv();
    };
    const clean = await runRollouts(random(), () => new LookEnv(), tasks, run);
    const bumpy = await runRollouts(random(), makeEnv, tasks, { ...run, retries: 3 });
    expect(bumpy).toEqual({ ...clean, retries: 3 });
  });

  it('keeps what stays broken as failures, counted by boundary', async () => {
    const policy = new ScriptedPolicy((request) =>
      request.conversation.startsWith('b/') ? new Error('gone') : 'a7',
    );
    const result = await runRollouts(policy, () => new LookEnv(), tasks, { ...run, retries: 1 });
    expect(result.failures).toEqual({ policy: 4 });
    expect(result.retries).toBe(4);
    expect(result.groups[1]?.trajectories.map((one) => one.stopReason)).toEqual(
      new Array(4).fill('failed'),
    );
    expect(result.groups[0]?.trajectories.every((one) => one.stopReason === 'answered')).toBe(true);
  });

  it('keeps a budget of tries for each boundary', async () => {
    const policy = new ScriptedPolicy((request) =>
      request.conversation.startsWith('b/') ? new Error('gone') : 'x',
    );
    const result = await runRollouts(policy, () => new LookEnv(), tasks.slice(0, 2), {
      ...run,
      retries: { policy: 2 },
    });
    expect(result.failures).toEqual({ policy: 4, sandbox: 4 });
    expect(result.retries).toBe(8);
  });

  it('gives up a trajectory whose tool hangs at its deadline, and no other', async () => {
    const before = LookEnv.open;
    const makeEnv = (): Env => {
      const env = new LookEnv();
      const step = env.step.bind(env);
      // Deaf to signals, as the worst of tools are.
      env.step = (text) => (text === 'ahang' ? new Promise(() => {}) : step(text));
      return env;
    };
    const policy = new ScriptedPolicy(({ conversation }) =>
      conversation === 'a/1' ? 'ahang' : 'a7',
    );
    const options = { ...run, deadlineSeconds: 0.5 };
    const { groups, retries, failures, stopped } = await runRollouts(
      policy,
      makeEnv,
      tasks.slice(0, 1),
      options,
    );
    const ends = groups[0]?.trajectories.map(({ stopReason }) => stopReason);
    expect(ends).toEqual(['answered', 'failed', 'answered', 'answered']);
    expect(groups[0]?.trajectories[1]?.failure).toMatchObject({
      boundary: 'env',
      cause: 'deadline',
    });
    expect([retries, failures, stopped]).toEqual([0, { env: 1 }, { deadline: 1, cancelled: 0 }]);
    expect(LookEnv.open).toBe(before);
    for (const one of groups[0]?.trajectories ?? []) checkTrajectory(one);
  });

  it('cancels one trajectory alone', async () => {
    const controller = new AbortController();
    const policy = new ScriptedPolicy(({ conversation }) => {
      if (conversation === 'a/2') controller.abort();
      return 'a7';
    });
    const { groups, stopped } = await runRollouts(policy, () => new LookEnv(), tasks.slice(0, 1), {
      ...run,
      stopOf: (_, sampleIndex) => (sampleIndex === 2 ? controller.signal : undefined),
    });
    const ends = groups[0]?.trajectories.map(({ stopReason }) => stopReason);
    expect(ends).toEqual(['answered', 'answered', 'failed', 'answered']);
    expect(stopped).toEqual({ deadline: 0, cancelled: 1 });
  });

  it('stops on abort, lets everything go and throws the reason', async () => {
    const controller = new AbortController();
    const before = LookEnv.open;
    const policy = new ScriptedPolicy(() => {
      if (policy.requests.length > 6) controller.abort(new Error('Ctrl-C'));
      return 'c';
    });
    const call = runRollouts(policy, () => new LookEnv(), tasks, {
      ...run,
      concurrency: 3,
      signal: controller.signal,
    });
    await expect(call).rejects.toThrow('Ctrl-C');
    expect(LookEnv.open).toBe(before);
    expect(policy.running).toBe(0);
    expect(policy.released).toContain('/a/prompt');
  });

  it('gives each rollout a signal of its own: what listens to one does not pile up on the run’s', async () => {
    const { signal } = new AbortController();
    const seen = new Set<AbortSignal | undefined>();
    const policy = new ScriptedPolicy((request) => {
      seen.add(request.signal);
      request.signal?.addEventListener('abort', () => {});
      return 'a7';
    });
    await runRollouts(policy, () => new LookEnv(), tasks, { ...run, concurrency: 20, signal });
    expect(seen.size).toBe(20);
    expect(getEventListeners(signal, 'abort').length).toBe(0);
  });

  it('warns of an environment that cannot be disposed, and continues', async () => {
    const warnings: string[] = [];
    const makeEnv = (): Env => {
      const env = new LookEnv();
      env.dispose = async () => {
        LookEnv.open--;
        throw new Error('busy');
      };
      return env;
    };
    const events = (event: { kind: string; message?: string }) => {
      if (event.kind === 'warning') warnings.push(event.message ?? '');
    };
    const { groups } = await runRollouts(random(), makeEnv, tasks.slice(0, 1), { ...run, events });
    expect(groups[0]?.trajectories).toHaveLength(4);
    expect(warnings).toEqual(new Array(4).fill('An environment could not be disposed: busy'));
  });

  it('refuses numbers out of range', async () => {
    for (const wrong of [
      { groupSize: 0 },
      { concurrency: 0 },
      { retries: -1 },
      { retries: { tool: -1 } },
    ]) {
      const call = runRollouts(random(), () => new LookEnv(), tasks, { ...run, ...wrong });
      await expect(call).rejects.toThrow(/must be a whole number of at least/);
    }
  });
});

describe('ModelImages', () => {
  it('says so when a recorded image no longer takes the tokens it had', async () => {
    const images = new ModelImages(new CharacterProcessor());
    const recorded = { name: 'image_clue_0', png: new Uint8Array(3), width: 1, height: 1 };
    const image = { ...recorded, modelWidth: 1, modelHeight: 1, tokenCount: 4 };
    await expect(images.prepareRecorded(image)).rejects.toThrow(/has 4 tokens .* gives it 3/);
  });
});
