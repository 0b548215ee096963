/** Measures what a run does not record: its engine, what requests and publishing cost, learning by tokens. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type EventSink, timed } from '@saccade/core';
import {
  fitLine,
  type MeasuredEngine,
  type MeasuredPrompt,
  measureEngine,
  median,
  promptSharing,
  type RequestCosts,
  requestCosts,
} from '@saccade/planner';
import type { LocalPolicy, TrainedPolicy } from '@saccade/policy';
import { engines } from '@saccade/policy/remote';
import { ModelImages, packTrajectories } from '@saccade/rollout';
import { listTrajectorySets, readTrajectorySet } from '@saccade/run-store';
import { openBackend, openPolicyIn, processUsage, secret } from '@saccade/train';
import type { Trajectory } from '@saccade/trajectory';
import { policyOf } from './serve-policy.ts';
import { terminalProgress } from './terminal-progress.ts';

/** Sequences at a time that are measured, and tokens of each. */
const SEQUENCES = [1, 4, 16, 64, 128];
const TOKENS = 16;
const PROMPTS = 16;
/** Trajectories that are learned from, at two sizes; and how often. */
const LEARNED = [16, 48];
const REPEATS = 3;

/** What was measured of a run. */
export interface MeasuredRun {
  readonly engine: MeasuredEngine;
  /** Of an engine elsewhere. */
  readonly elsewhere?: RequestCosts & {
    readonly publishSeconds: number;
    readonly promptSharing: number;
  };
  readonly learner: { readonly secondsPerToken: number; readonly scoreSecondsPerToken: number };
}

/** The run's newest policy on this machine, with prompts and trajectories that the run recorded. */
export async function measureRun(
  run: string,
  { backend, engineUrl }: { readonly backend: string; readonly engineUrl: string | undefined },
): Promise<MeasuredRun> {
  const onEvent = terminalProgress({ stream: process.stderr });
  onEvent({
    kind: 'warning',
    message: 'Measuring the engine; --costs can give its speed instead.',
  });
  const device = await openBackend(backend);
  try {
    const policy = await openPolicyIn(policyOf(run, onEvent), device, onEvent);
    const trajectories = await recorded(run);
    const images = new ModelImages(policy.processor);
    const prompts = await promptsOf(trajectories, images);
    const how = { sequences: SEQUENCES, tokens: TOKENS };
    const engine = await measureEngine(policy, prompts, { ...how, usage: () => processUsage() });
    const elsewhere =
      engineUrl === undefined
        ? undefined
        : await measureElsewhere(engineUrl, { policy, trajectories, here: engine, onEvent });
    const learner = await measureLearning(policy, trajectories, images);
    policy.dispose();
    return { engine, learner, ...(elsewhere && { elsewhere }) };
  } finally {
    device.dispose();
  }
}

async function recorded(run: string): Promise<readonly Trajectory[]> {
  const names = listTrajectorySets(run).value.filter((name) => name.startsWith('step-'));
  const rows = names.flatMap((name) => readTrajectorySet(run, name).value);
  const most = Math.max(...LEARNED);
  const found = await Promise.all(rows.slice(0, most).map((row) => row.load()));
  return found.map(({ value }) => value);
}

async function promptsOf(
  trajectories: readonly Trajectory[],
  images: ModelImages,
): Promise<readonly MeasuredPrompt[]> {
  const byTask = new Map(trajectories.map((one) => [one.taskId, one]));
  return await Promise.all(
    [...byTask.values()].slice(0, PROMPTS).map(async ({ segments: [prompt] }) => ({
      tokens: prompt?.tokens ?? Int32Array.of(1),
      images: await Promise.all(
        (prompt?.images ?? []).map((image) => images.prepareRecorded(image)),
      ),
    })),
  );
}

/** An engine that serves the same policy, and how long it takes to give it weights. */
async function measureElsewhere(
  baseUrl: string,
  {
    policy,
    trajectories,
    here,
    onEvent,
  }: {
    readonly policy: TrainedPolicy;
    readonly trajectories: readonly Trajectory[];
    readonly here: MeasuredEngine;
    readonly onEvent: EventSink;
  },
): Promise<NonNullable<MeasuredRun['elsewhere']>> {
  const directory = mkdtempSync(join(tmpdir(), 'saccade-plan-'));
  const http = engines.get('http');
  const open = () =>
    http.open(http.settings.parse({ baseUrl }), {
      ...{ policy, directory, temperatures: [1], truncates: false, secret, onEvent },
    });
  try {
    const times: number[] = [];
    for (let i = 0; i < REPEATS; i++) {
      // A fresh one does not know what the engine has.
      const fresh = await open();
      times.push((await timed(() => fresh.sync()))[1]);
      fresh.dispose?.();
    }
    const engine = await open();
    const images = new ModelImages(engine.sampler.processor);
    const prompts = await promptsOf(trajectories, images);
    const there = await measureEngine(engine.sampler, prompts, {
      ...{ sequences: SEQUENCES, tokens: TOKENS },
    });
    const sharing = await promptSharing(engine.sampler, prompts, there.prefillTokensPerSecond);
    engine.dispose?.();
    return {
      ...requestCosts(here, there, TOKENS),
      publishSeconds: median(times),
      promptSharing: sharing,
    };
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

/** Seconds for each packed token more, of forward and backward, and of scoring. The weights stay. */
async function measureLearning(
  policy: Pick<LocalPolicy, 'score' | 'forwardBackward' | 'optimizerStep'>,
  trajectories: readonly Trajectory[],
  images: ModelImages,
): Promise<MeasuredRun['learner']> {
  const learned: { tokens: number; seconds: number }[] = [];
  const scored: { tokens: number; seconds: number }[] = [];
  for (const count of LEARNED) {
    const items = trajectories.slice(0, count).map((trajectory) => ({ trajectory }));
    const { microBatches } = await packTrajectories(items, { images, maxTokens: 8192 });
    const tokens = microBatches.reduce((sum, { tokenCount }) => sum + tokenCount, 0);
    const each = { learn: [] as number[], score: [] as number[] };
    for (let i = 0; i <= REPEATS; i++) {
      const [, score] = await timed(async () => {
        for (const { packed } of microBatches) await policy.score(packed);
      });
      const [, learn] = await timed(async () => {
        for (const { packed } of microBatches) {
          await policy.forwardBackward(packed, ({ logprobs }) => ({
            loss: 0,
            gradLogprobs: new Float32Array(logprobs.length).fill(1e-6),
          }));
        }
        await policy.optimizerStep({ learningRate: 0 });
      });
      // The first warms caches up.
      if (i === 0) continue;
      each.learn.push(learn);
      each.score.push(score);
    }
    learned.push({ tokens, seconds: median(each.learn) });
    scored.push({ tokens, seconds: median(each.score) });
  }
  return {
    secondsPerToken: fitLine(learned).slope,
    scoreSecondsPerToken: fitLine(scored).slope,
  };
}
