/**
 * Where a cold-start update, a rollout and a training step of a recipe go.
 *
 * A short run of the recipe: examples, updates, then steps, in the real sandbox. It is run three times: to
 * warm up, as any run is, and profiled. All must give the same metrics, and the times of the second say how
 * much of the third is the price of timing kernels one by one.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { isTiming, type MetricsRow, readMetrics, type StoredProfile } from '@saccade/run-store';
import {
  applySettings,
  inputOf,
  profileWork,
  recipes,
  resolveRun,
  type Setting,
  train,
} from '@saccade/train';
import { sandboxPython } from './sandbox-python.ts';
import { median } from './statistics.ts';

/** What is run, and how much of it. */
export interface StepProfileOptions {
  readonly recipe: string;
  readonly settings: readonly Setting[];
  /** Updates of the cold start, and steps of reinforcement learning. */
  readonly updates: number;
  readonly steps: number;
  /** Of the cold start's examples, how many are made. */
  readonly exampleShare: number;
  /** A run or a policy that the steps start from; absent: the few updates of the cold start. */
  readonly from?: string;
  readonly threads?: number;
  /** Whether it is also run without a profile. */
  readonly isCompared: boolean;
  readonly onProgress: (line: string) => void;
  readonly signal: AbortSignal;
  readonly keep: (soFar: StepProfile) => void;
}

/** Median seconds of what a run logs the times of. */
export interface StepSeconds {
  readonly update: number;
  readonly rollout: number;
  readonly learning: number;
}

export interface StepProfile {
  /** Without a profile, as any run is; absent where that was not asked for. */
  readonly plain?: StepSeconds;
  /** Absent where it was stopped before. */
  readonly profiled?: StepSeconds;
  readonly stored?: StoredProfile;
  /** Of the steps: tool calls of a trajectory, and the tokens that it samples. */
  readonly toolCalls?: number;
}

/** The numbers of examples of the cold starts. */
const EXAMPLES = ['demonstrations', 'tours', 'readings', 'captions'];

/**
 * @throws ConfigError for a recipe or a setting that there is not
 * @throws Error if a profiled run has other metrics
 */
export async function measureStepProfile(options: StepProfileOptions): Promise<StepProfile> {
  const folder = await mkdtemp(join(tmpdir(), 'saccade-step-'));
  try {
    // The first run of a process compiles what later ones find compiled.
    if (options.isCompared) await runBoth(options, join(folder, 'warm-up'), ', to warm up');
    const plainRows = options.isCompared
      ? await runBoth(options, join(folder, 'plain'), '')
      : undefined;
    const plain = plainRows && secondsOf(plainRows);
    if (plain) options.keep({ plain });
    let stored: StoredProfile | undefined;
    const what =
      `${options.recipe}, ${counted(options.updates, 'update')}, ` +
      `${counted(options.steps, 'step')}`;
    const rows = await profileWork(
      { what, areLaunchesBlocking: () => true },
      () => runBoth(options, join(folder, 'profiled'), ', profiled'),
      (profile) => {
        stored = profile;
        options.keep({ ...(plain && { plain }), stored });
      },
    );
    if (plainRows !== undefined) expectSame(plainRows, rows);
    return {
      ...(plain && { plain }),
      profiled: secondsOf(rows),
      ...(stored && { stored }),
      toolCalls: median(numbersOf(rows, 'rl', 'tool_calls/mean')),
    };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** The cold start, then the steps: those may start from another policy. */
async function runBoth(
  options: StepProfileOptions,
  directory: string,
  note: string,
): Promise<readonly MetricsRow[]> {
  const cold = join(directory, 'cold-start');
  const start = resolve(options.from ?? cold);
  await runOnce(options, cold, note, [
    { path: 'rl.steps', value: 0 },
    { path: 'sft.updates', value: options.updates },
  ]);
  await runOnce(options, join(directory, 'steps'), note, [
    { path: 'rl.steps', value: options.steps },
    { path: 'startFrom', value: start },
  ]);
  return [cold, join(directory, 'steps')].flatMap((one) => readMetrics(one).value.rows);
}

async function runOnce(
  { recipe, settings, exampleShare, threads, onProgress, signal }: StepProfileOptions,
  directory: string,
  note: string,
  own: readonly Setting[],
): Promise<void> {
  signal.throwIfAborted();
  const input = inputOf(recipes.get(recipe));
  const { coldStart } = resolveRun(input).config;
  const given = new Set(settings.map(({ path }) => path));
  const fewer = EXAMPLES.flatMap((name) => {
    const count = coldStart?.[name];
    const path = `coldStart.${name}`;
    if (typeof count !== 'number' || given.has(path)) return [];
    return [{ path, value: Math.ceil(count * exampleShare) }];
  });
  const all = [
    { path: 'evaluation.count', value: 1 },
    { path: 'evaluation.everySteps', value: 0 },
    ...(threads === undefined ? [] : [{ path: 'backend.threads', value: threads }]),
    ...fewer,
    ...settings,
    ...own,
  ];
  const { isFinished } = await train({
    run: resolveRun(applySettings(input, all)),
    directory,
    python: sandboxPython,
    onEvent(event) {
      if (event.kind !== 'progress') return;
      onProgress(`${event.stage}${note}: ${event.done} of ${event.total ?? '?'}`);
    },
    isStopRequested: () => signal.aborted,
  });
  if (!isFinished) signal.throwIfAborted();
}

const counted = (count: number, what: string): string =>
  `${count} ${what}${count === 1 ? '' : 's'}`;

function secondsOf(rows: readonly MetricsRow[]): StepSeconds {
  return {
    update: median(numbersOf(rows, 'sft', 'step_time')),
    rollout: median(numbersOf(rows, 'rl', 'time/rollout')),
    learning: median(numbersOf(rows, 'rl', 'time/learn')),
  };
}

function numbersOf(rows: readonly MetricsRow[], stage: string, name: string): readonly number[] {
  return rows.filter((row) => row.stage === stage).map((row) => Number(row[name]));
}

function expectSame(plain: readonly MetricsRow[], profiled: readonly MetricsRow[]): void {
  const withoutTimes = (rows: readonly MetricsRow[]): string =>
    JSON.stringify(rows.map((row) => Object.entries(row).filter(([name]) => !isTiming(name))));
  if (withoutTimes(plain) === withoutTimes(profiled)) return;
  throw new Error('The profiled run has other metrics than the same run without a profile.');
}
