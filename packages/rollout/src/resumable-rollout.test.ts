import { SaccadeError } from '@saccade/core';
import type { Env, EnvStep } from '@saccade/gym';
import type { Trajectory } from '@saccade/trajectory';
import { describe, expect, it } from 'vitest';
import type { PartialRollout } from './partial.ts';
import { type ResumableOptions, ResumableRollout } from './resumable-rollout.ts';
import { rollout } from './rollout.ts';
import { LookEnv, ScriptedPolicy, shownImage, taskOf } from './scripted.fixture.ts';

const options: ResumableOptions = { seed: 1, maxTokensPerTurn: 10, maxContextTokens: 100 };
const task = taskOf('t');

/** Looks twice, then answers; what it says depends on the context alone. */
const looker = () =>
  new ScriptedPolicy(({ images }) => (images.length < 3 ? `c${images.length}` : 'a7'));

async function finish(one: ResumableRollout): Promise<Trajectory> {
  for (;;) {
    const ended = await one.turn();
    if (ended !== undefined) return ended;
  }
}

/** The state that another process would find: the ledger alone. */
async function after(turns: number): Promise<PartialRollout> {
  const first = new ResumableRollout(looker(), () => new LookEnv([shownImage]), task, options);
  for (let i = 0; i < turns; i++) expect(await first.turn()).toBeUndefined();
  const { partial } = first;
  await first.dispose();
  if (partial === undefined) throw new Error('nothing to resume');
  return structuredClone(partial);
}

describe('a rollout that is resumed', () => {
  const whole = () => rollout(looker(), new LookEnv([shownImage]), task, options);

  it.each([1, 2])('ends after %i turns elsewhere as if it had never stopped', async (turns) => {
    const from = await after(turns);
    const policy = looker();
    const open = LookEnv.open;
    const made = () => new LookEnv([shownImage]);
    const resumed = await finish(new ResumableRollout(policy, made, task, { ...options, from }));
    expect(LookEnv.open).toBe(open);
    expect(resumed).toEqual(await whole());
    // Tokens sampled before are not sampled again.
    expect(policy.requests).toHaveLength(3 - turns);
  });

  it('keeps the policy version of what was sampled before', async () => {
    const from = await after(1);
    const newer = Object.assign(looker(), { version: 9 });
    const made = () => new LookEnv([shownImage]);
    const resumed = await finish(new ResumableRollout(newer, made, task, { ...options, from }));
    expect(resumed.policyVersion).toBe(5);
    expect(resumed.segments.map(({ policyVersion }) => policyVersion)).toEqual([
      undefined,
      undefined,
      undefined,
      9,
      undefined,
      9,
    ]);
  });

  it.each([1, 2])('restarts where observation %i comes out differently', async (turns) => {
    const from = await after(turns);
    const warnings: string[] = [];
    const policy = looker();
    const other = { ...shownImage, png: new Uint8Array(4).fill(turns) };
    const resumed = await finish(
      new ResumableRollout(policy, () => new LookEnv([other]), task, {
        ...options,
        from,
        events: (event) => event.kind === 'warning' && warnings.push(event.message),
      }),
    );
    expect(warnings).toEqual(['Rollout t/0 came out differently when resumed; it restarts.']);
    expect(policy.requests).toHaveLength(3);
    expect(resumed.stopReason).toBe('answered');
  });

  it('continues from its last whole turn where something broke, and counts the try', async () => {
    let breaks = 1;
    const made = (): Env => {
      const env = new LookEnv([shownImage]);
      const step = env.step.bind(env);
      env.step = (text): Promise<EnvStep> => {
        if (text === 'c2' && breaks-- > 0) throw new SaccadeError('tool', 'the service is down');
        return step(text);
      };
      return env;
    };
    const policy = looker();
    const one = new ResumableRollout(policy, made, task, options);
    expect(await finish(one)).toEqual(await whole());
    expect(one.spent).toEqual({ tool: 1 });
    expect(policy.requests).toHaveLength(4);
    breaks = 9;
    const failed = await finish(new ResumableRollout(looker(), made, task, options));
    expect(failed.failure).toEqual({ boundary: 'tool', message: 'the service is down' });
  });
});
