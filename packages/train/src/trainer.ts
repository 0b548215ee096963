/** A run from beginning to end: cold start, evaluation, reinforcement learning, evaluation, report. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { DataError, type EventSink } from '@saccade/core';
import {
  checkpointsOf,
  type Damage,
  describeDamage,
  findLatestCheckpoint,
  initialState,
  inspectRun,
  lockRun,
  makeDirectories,
  nodeFileSystem,
  openRunLog,
  type RunState,
  readState,
  trajectoriesOf,
  writeConfig,
} from '@saccade/run-store';
import type { RunConfig } from './config.ts';
import { recordAttempt } from './environment.ts';
import { type Evaluation, evaluate } from './evaluate.ts';
import { openParts, type Parts } from './parts.ts';
import { reinforce } from './rl.ts';
import { Interrupted, type Run, totalSteps } from './run.ts';
import { saveRun } from './run-checkpoint.ts';
import { coldStart } from './sft.ts';
import { startingWeights } from './start-from.ts';

export interface TrainOptions {
  readonly config: RunConfig;
  readonly directory: string;
  /** Interpreter of the sandbox. */
  readonly python: string;
  /** Go on from the newest valid checkpoint of the directory. */
  readonly resume: boolean;
  readonly onEvent: EventSink;
  readonly isStopRequested?: () => boolean;
}

export interface TrainResult {
  /** False if a person stopped the run; it can be resumed. */
  readonly isFinished: boolean;
  readonly final?: Evaluation;
}

/** Trains, or goes on training. The same seed gives the same metrics, timings aside. */
export async function train(options: TrainOptions): Promise<TrainResult> {
  const { config, directory, onEvent } = options;
  if (!options.resume && existsSync(join(directory, 'metrics.jsonl'))) {
    throw new DataError(
      `${directory} holds a run already. Go on with --resume ${directory}, or choose another --out.`,
    );
  }
  makeDirectories(nodeFileSystem, trajectoriesOf(directory));
  const unlock = lockRun(directory);
  let parts: Parts | undefined;
  let log: Run['log'] | undefined;
  try {
    parts = await openParts(config, options.python, onEvent, directory);
    const { state, resumedFrom } = await startingPoint(options, parts);
    const inspection = options.resume
      ? await inspectRun(directory, { skips: ['checkpoints', 'metrics'] })
      : undefined;
    writeConfig(directory, config);
    const attempt = { python: options.python, fromStep: totalSteps(state) };
    const damage = [...(inspection?.damage ?? []), ...recordAttempt(directory, parts, attempt)];
    log = openRunLog(directory, state);
    warnOf([...damage, ...log.damage], onEvent);
    const run: Run = {
      config,
      parts,
      directory,
      log,
      onEvent,
      isStopRequested: options.isStopRequested ?? (() => false),
      state,
      ...(resumedFrom !== undefined && { resumedFrom }),
    };
    return await stages(run);
  } finally {
    log?.close();
    await parts?.dispose();
    unlock();
  }
}

/** Says each damage once. */
function warnOf(damage: readonly Damage[], onEvent: EventSink): void {
  for (const message of new Set(damage.map(describeDamage))) onEvent({ kind: 'warning', message });
}

async function stages(run: Run): Promise<TrainResult> {
  const { config } = run;
  try {
    await coldStart(run);
    if (!run.state.isWarm) {
      await evaluate(run, 'sft');
      // Reinforcement learning starts with moments of its own.
      run.parts.policy.resetOptimizer();
      const tasksTaken = Math.max(run.state.tasksTaken, config.sft.demonstrations);
      run.state = { ...run.state, isWarm: true, tasksTaken };
      await saveRun(run, { pinned: true });
    }
    await reinforce(run);
    if (run.state.isFinished) return { isFinished: true };
    const final = await evaluate(run, 'final');
    run.state = { ...run.state, isFinished: true };
    await saveRun(run, { pinned: true });
    return { isFinished: true, final };
  } catch (error) {
    if (error instanceof Interrupted) return { isFinished: false };
    throw error;
  }
}

/** A fresh state, or that of the newest valid checkpoint with its weights loaded. */
async function startingPoint(
  options: TrainOptions,
  parts: Parts,
): Promise<{ readonly state: RunState; readonly resumedFrom?: string }> {
  const { directory, onEvent } = options;
  const { startFrom } = options.config;
  const checkpoint = options.resume
    ? findLatestCheckpoint(checkpointsOf(directory), onEvent)
    : undefined;
  if (checkpoint === undefined) {
    if (startFrom !== 'none') await parts.policy.load(startingWeights(startFrom));
    if (!options.resume) return { state: initialState };
    onEvent({
      kind: 'warning',
      message: `${directory} has no valid checkpoint yet; the run starts from its beginning.`,
    });
    return { state: initialState };
  }
  await parts.policy.load(join(checkpoint.directory, 'policy'), { optimizer: true });
  return { state: readState(checkpoint.directory), resumedFrom: checkpoint.directory };
}
