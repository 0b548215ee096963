import { afterEach, expect, it, vi } from 'vitest';
import { promptSharing, requestCosts } from './measure-engine.ts';
import { readRecordedWork } from './recorded-work.ts';

afterEach(() => vi.useRealTimers());

const row = (metrics: Readonly<Record<string, number>>) =>
  ({ stage: 'rl', step: 1, ...metrics }) as const;

it('reads publishing, sandboxes and processors from steps, the first left out', () => {
  const step = row({
    'time/publish': 0.5,
    'time/learn': 2,
    'throughput/requests': 40,
    'throughput/sessions': 10,
    'throughput/executions': 20,
    'time/execution': 0.2,
    'time/execution_processor': 0.05,
    'time/sandbox_processors/rollout': 3,
    'time/processors/rollout': 4,
    'time/processors/learn': 3,
  });
  const { fields, rollout, assumptions } = readRecordedWork([
    row({ 'time/publish': 9 }),
    step,
    step,
  ]);
  expect(fields.publish?.seconds).toBe(0.5);
  // 3 s of all sandboxes, 20 · 0.05 of them in executions, for 10 sessions.
  expect(fields.tools?.openSeconds).toBeCloseTo(0.2, 12);
  expect(fields.tools?.workShare).toBeCloseTo(0.25, 12);
  expect(fields.learner?.processors).toBeCloseTo(1.5, 12);
  expect(rollout).toEqual({ processorSeconds: 4, requests: 40 });
  expect(assumptions.join(' ')).not.toContain('does not say');
});

it('says what a run that recorded none of it does not tell', () => {
  const { fields, rollout, assumptions } = readRecordedWork([row({ 'time/learn': 1 })]);
  expect(fields).toEqual({});
  expect(rollout).toBeUndefined();
  expect(assumptions.filter((one) => one.includes('does not say'))).toHaveLength(2);
});

it('finds the costs of requests from an engine here and the same one elsewhere', () => {
  const speed = (n: number) => 100 * n ** 0.5;
  const counts = [1, 4, 16];
  const here = { decode: counts.map((n) => [n, speed(n)] as const) };
  const there = {
    decode: counts.map((n) => [n, (n * 16) / ((n * 16) / speed(n) + 0.01 + 0.002 * n)] as const),
  };
  const { requestSeconds, secondsPerRequest } = requestCosts(here, there, 16);
  expect(requestSeconds).toBeCloseTo(0.01, 9);
  expect(secondsPerRequest).toBeCloseTo(0.002, 9);
  expect(requestCosts(here, here, 16)).toEqual({ requestSeconds: 0, secondsPerRequest: 0 });
});

it('finds how much of a prompt an engine computes once for several that ask for it', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'performance'] });
  const prompts = [1, 2, 3, 4].map((prompt) => ({
    tokens: Int32Array.from({ length: 10 }, (_, i) => 10 * prompt + i),
    images: [],
  }));
  const of = async (share: number): Promise<number> => {
    // 10 ms for each prompt, one after the other; less for one that is known.
    let last: Promise<void> = Promise.resolve();
    const known = new Map<string, Promise<void>>();
    const sample = async ({ tokens }: { readonly tokens: Int32Array }) => {
      const key = tokens.join();
      const before = known.get(key);
      const ms = before === undefined ? 10 : 10 * (1 - share);
      if (ms > 0) last = last.then(() => new Promise((done) => setTimeout(done, ms)));
      known.set(key, last);
      await last;
    };
    const found = promptSharing({ sample, release() {} } as never, prompts, 10 / 0.01);
    await vi.advanceTimersByTimeAsync(10_000);
    return await found;
  };
  for (const share of [0, 0.3, 0.5, 1]) expect(await of(share)).toBeCloseTo(share, 6);
});
