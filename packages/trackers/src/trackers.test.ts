import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { RunEvent } from '@saccade/core';
import { type MetricsRow, openMetricsLog } from '@saccade/run-store';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { z } from 'zod';
import { openTrackers } from './open-trackers.ts';
import { trackers } from './registry.ts';
import { defineTracker, type Tracker } from './tracker.ts';

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'saccade-trackers-'));
});
afterEach(() => rmSync(directory, { recursive: true }));

const rows: readonly MetricsRow[] = [
  { stage: 'sft', step: 1, loss: 2.5, zeta: 1 },
  { stage: 'rl', step: 2, grad_norm: 0.5, reward: 1, 'rewards/bonus/mean': 0.25 },
  { stage: 'evaluation', step: 2, label: 'a "b", c', 'eval/accuracy': 1 },
];

/** Opens a tracker of the catalog at its defaults and hands it rows; `before` were logged before. */
async function track(name: string, before: readonly MetricsRow[], after: readonly MetricsRow[]) {
  const unit = trackers.get(name);
  const context = { directory, runName: 'run', config: {}, rows: before };
  const tracker = await unit.open(unit.settings.parse({}), context);
  for (const row of after) await tracker.metrics(row);
  await tracker.close();
}

it('writes one table with the columns of every row, in the order of the catalog', async () => {
  await track('csv', [], rows);
  const text = readFileSync(join(directory, 'metrics.csv'), 'utf8');
  expect(text.split('\r\n')).toEqual([
    'stage,step,label,reward,rewards/bonus/mean,loss,grad_norm,eval/accuracy,zeta',
    'sft,1,,,,2.5,,,1',
    'rl,2,,1,0.25,,0.5,,',
    'evaluation,2,"a ""b"", c",,,,,1,',
    '',
  ]);
});

it.each([
  ['csv', 'metrics.csv'],
  ['jsonl', 'metrics-plain.jsonl'],
])('%s: a resumed run leaves the file that an uninterrupted one writes', async (name, file) => {
  await track(name, [], rows);
  const whole = readFileSync(join(directory, file), 'utf8');
  // The second row was lost with the steps after the checkpoint, and is logged again.
  await track(name, [], rows.slice(0, 2));
  await track(name, rows.slice(0, 1), rows.slice(1));
  expect(readFileSync(join(directory, file), 'utf8')).toBe(whole);
});

it('begins an event file of its own for each attempt', async () => {
  await track('tensorboard', [], rows);
  await new Promise((wake) => setTimeout(wake, 2));
  await track('tensorboard', rows, rows);
  const files = readdirSync(join(directory, 'tensorboard')).sort();
  expect(files).toHaveLength(2);
  const [first, second] = files.map((file) => readFileSync(join(directory, 'tensorboard', file)));
  expect(first?.includes('rl/rewards/bonus/mean')).toBe(true);
  // The restart: step 3, then session_log { status: START }.
  expect(first?.includes(Buffer.from([0x10, 3, 0x3a, 2, 8, 1]))).toBe(false);
  expect(second?.includes(Buffer.from([0x10, 3, 0x3a, 2, 8, 1]))).toBe(true);
});

const faulty = (name: string, tracker: Partial<Tracker>) => ({
  unit: defineTracker({
    name,
    description: 'Fails.',
    settings: z.strictObject({}),
    open: () => ({ metrics() {}, close() {}, ...tracker }),
  }),
  settings: {},
});

it('warns once of each tracker that fails, and continues with the others', async () => {
  const events: RunEvent[] = [];
  const seen: MetricsRow[] = [];
  let calls = 0;
  const fail = (): never => {
    calls++;
    throw new Error('The disk is full.');
  };
  const [neverOpen, throwing, rejecting, unclosed] = [
    faulty('never-open', {}),
    faulty('throwing', { metrics: fail }),
    faulty('rejecting', { metrics: async () => fail() }),
    faulty('unclosed', { close: async () => fail() }),
  ];
  const open = await openTrackers(
    [
      { ...neverOpen, unit: { ...neverOpen.unit, open: fail } },
      throwing,
      rejecting,
      unclosed,
      faulty('sound', { metrics: (row) => void seen.push(row) }),
    ],
    { directory, runName: 'run', config: {}, rows: [] },
    (event) => events.push(event),
  );
  const log = open.watch(openMetricsLog(join(directory, 'metrics.jsonl')));
  for (const row of rows) {
    log.append(row);
    await Promise.resolve();
  }
  log.close();
  await open.close();
  expect(seen).toEqual(rows);
  expect(readFileSync(join(directory, 'metrics.jsonl'), 'utf8').trim().split('\n')).toHaveLength(3);
  expect(calls).toBe(4);
  const messages = events.map((event) => (event.kind === 'warning' ? event.message : event.kind));
  expect(messages.map((message) => message.split(' ')[2])).toEqual([
    'never-open',
    'throwing',
    'rejecting',
    'unclosed',
  ]);
  for (const message of messages) expect(message).toContain('The disk is full.');
});

it('hands on what happens beside rows', async () => {
  const seen: RunEvent[] = [];
  const open = await openTrackers(
    [faulty('listener', { event: (event) => void seen.push(event) })],
    { directory, runName: 'run', config: {}, rows: [] },
    () => {},
  );
  const warning = { kind: 'warning', message: 'Careful.' } as const;
  open.sink(warning);
  open.sink({ kind: 'metrics', step: 1, values: {} });
  expect(seen).toEqual([warning]);
});

it('survives a path that cannot be written', async () => {
  writeFileSync(join(directory, 'file'), '');
  const events: RunEvent[] = [];
  const chosen = ['csv', 'jsonl', 'tensorboard'].map((name) => ({
    unit: trackers.get(name),
    settings: { path: 'file/below' },
  }));
  const context = { directory, runName: 'run', config: {}, rows: [] };
  const open = await openTrackers(chosen, context, (event) => events.push(event));
  await open.close();
  expect(events).toHaveLength(3);
});
