import { expect, it } from 'vitest';
import { requestCosts } from './measure-engine.ts';
import { readRecordedWork } from './recorded-work.ts';

const row = (metrics: Readonly<Record<string, number>>) =>
  ({ stage: 'rl', step: 1, ...metrics }) as const;

it('reads publishing, sandboxes and processors from steps, the first left out', () => {
  const step = row({
    'time/publish': 0.5,
    'time/learn': 2,
    'engine/requests': 40,
    'sandbox/sessions': 10,
    'sandbox/executions': 20,
    'sandbox/execution_seconds': 0.2,
    'sandbox/processor_seconds': 0.05,
    'sandbox/processors/rollout': 3,
    'processors/rollout': 4,
    'processors/learn': 3,
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
