/** The weights a stored trajectory was sampled with: kept by the run, or trained again to get them. */
import { cpSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { DataError, type EventSink } from '@saccade/core';
import {
  checkpointDirectory,
  checkpointsOf,
  listCheckpoints,
  nodeFileSystem,
  readState,
  verifyCheckpoint,
  writeDurably,
} from '@saccade/run-store';
import { type ResolvedRun, train } from '@saccade/train';

/** A checkpoint by what is asked of it here. */
export interface KeptWeights {
  /** Directory of the checkpoint; its policy is in `policy/`. */
  readonly directory: string;
  /** Optimizer steps, as trajectories have them. */
  readonly policyVersion: number;
  /** Reinforcement-learning steps done. */
  readonly rlSteps: number;
}

export interface RebuildOptions {
  /** The interpreter of the sandbox. */
  readonly python: () => Promise<string>;
  readonly onEvent: EventSink;
}

/** Where weights that were trained again are kept, so that the next replay finds them. */
function rebuiltOf(run: string): string {
  return join(run, 'replay');
}

/** All checkpoints of a run, and those rebuilt before, oldest weights first. */
export function keptWeights(run: string): readonly KeptWeights[] {
  const kept: KeptWeights[] = [];
  for (const parent of [checkpointsOf(run), checkpointsOf(rebuiltOf(run))]) {
    for (const directory of listCheckpoints(parent)) {
      const policyVersion = versionIn(directory);
      const rlSteps = stepsIn(directory);
      if (policyVersion === undefined || rlSteps === undefined) continue;
      kept.push({ directory, policyVersion, rlSteps });
    }
  }
  return kept.sort((a, b) => a.policyVersion - b.policyVersion || a.rlSteps - b.rlSteps);
}

function stepsIn(directory: string): number | undefined {
  try {
    return readState(directory).rlSteps;
  } catch {
    return undefined;
  }
}

function versionIn(directory: string): number | undefined {
  const path = join(directory, 'policy', 'optimizer.json');
  if (!existsSync(path)) return undefined;
  try {
    const { version } = JSON.parse(readFileSync(path, 'utf8')) as { version?: unknown };
    return typeof version === 'number' ? version : undefined;
  } catch {
    // A damaged checkpoint does not count; asking for its version gives an error that lists those kept.
    return undefined;
  }
}

/**
 * The kept weights of a version, every file of them checked.
 *
 * @throws DataError if they were not kept, naming those that are and what to do
 */
export function findWeights(run: string, policyVersion: number): KeptWeights {
  const kept = keptWeights(run);
  const found = kept.find((one) => one.policyVersion === policyVersion);
  if (found !== undefined) {
    verifyCheckpoint(found.directory);
    return found;
  }
  const known = [...new Set(kept.map((one) => one.policyVersion))].join(', ') || 'none';
  throw new DataError(
    `${run} keeps no weights of version ${policyVersion}; it keeps versions ${known}. ` +
      'Add --rebuild to train them again from the nearest earlier checkpoint, or train with a ' +
      'larger checkpoint.keep.',
  );
}

/**
 * Trains on from the nearest earlier checkpoint until so many steps of reinforcement learning are
 * done, in a directory of its own under the run's, and keeps what came out beside it. A run of one
 * seed is the same bit for bit, so these are the weights the run had.
 *
 * @throws DataError if what came out is not of that version: the machine, the version of Saccade, a
 *   judge or a remote engine made another run of it
 */
export async function rebuildWeights(
  run: string,
  resolved: ResolvedRun,
  wanted: Pick<KeptWeights, 'policyVersion' | 'rlSteps'>,
  { python, onEvent }: RebuildOptions,
): Promise<KeptWeights> {
  const { engine } = resolved.config;
  if (engine !== undefined) {
    throw new DataError(
      `${run} was sampled with the engine at ${engine.baseUrl}, and what that gave cannot be ` +
        'sampled again here: its weights are those of the checkpoints alone.',
    );
  }
  const start = keptWeights(run)
    .filter(({ rlSteps }) => rlSteps < wanted.rlSteps)
    .at(-1);
  const building = join(rebuiltOf(run), 'building');
  rmSync(building, { recursive: true, force: true });
  mkdirSync(checkpointsOf(building), { recursive: true });
  try {
    onEvent({ kind: 'warning', message: describeRebuild(start, wanted) });
    copyIfThere(run, building, 'metrics.jsonl');
    copyIfThere(run, building, 'grades.jsonl');
    if (start !== undefined) {
      const { step } = verifyCheckpoint(start.directory);
      const target = checkpointDirectory(checkpointsOf(building), step);
      cpSync(start.directory, target, { recursive: true });
    }
    let isReached = false;
    const watch: EventSink = (event) => {
      const isStep = event.kind === 'progress' && event.stage === 'learning';
      if (isStep && event.done >= wanted.rlSteps) isReached = true;
      onEvent(event);
    };
    await train({
      run: onlyUpTo(resolved, wanted.rlSteps),
      directory: building,
      python,
      resume: true,
      onEvent: watch,
      isStopRequested: () => isReached,
    });
    return keepRebuilt(run, building, wanted);
  } finally {
    rmSync(building, { recursive: true, force: true });
  }
}

function describeRebuild(
  start: KeptWeights | undefined,
  wanted: Pick<KeptWeights, 'policyVersion' | 'rlSteps'>,
): string {
  const what = `Weights of version ${wanted.policyVersion} are not kept`;
  const steps = wanted.rlSteps - (start?.rlSteps ?? 0);
  const from = start === undefined ? 'the beginning' : `${start.directory}`;
  return `${what}; training ${steps} steps again from ${from}.`;
}

/** The configuration without what changes nothing of the weights: evaluations, files, checkpoints. */
function onlyUpTo(run: ResolvedRun, rlSteps: number): ResolvedRun {
  const { config } = run;
  const most = 1_000_000;
  return {
    ...run,
    config: {
      ...config,
      evaluation: { ...config.evaluation, count: 1, everySteps: 0, keepTrajectories: 0 },
      checkpoint: { ...config.checkpoint, everySftUpdates: most, everyRlSteps: most },
      // The length of a run is part of its learning rates; none are used before the first step.
      rl: {
        ...config.rl,
        steps: rlSteps === 0 ? 0 : config.rl.steps,
        keepTrajectoriesEverySteps: 0,
      },
    },
  };
}

function copyIfThere(from: string, to: string, file: string): void {
  const path = join(from, file);
  if (existsSync(path)) cpSync(path, join(to, file));
}

function keepRebuilt(
  run: string,
  building: string,
  wanted: Pick<KeptWeights, 'policyVersion' | 'rlSteps'>,
): KeptWeights {
  const built = keptWeights(building).find(({ rlSteps }) => rlSteps === wanted.rlSteps);
  if (built?.policyVersion !== wanted.policyVersion) {
    throw new DataError(
      `Training again gave weights of version ${built?.policyVersion ?? 'none'} after ` +
        `${wanted.rlSteps} steps, expected ${wanted.policyVersion}. The run was made by another ` +
        'version of Saccade or on another kind of device; replay it there.',
    );
  }
  const { step } = verifyCheckpoint(built.directory);
  const parent = checkpointsOf(rebuiltOf(run));
  const target = checkpointDirectory(parent, step);
  mkdirSync(parent, { recursive: true });
  rmSync(target, { recursive: true, force: true });
  renameSync(built.directory, target);
  const about = 'Weights that a replay trained again. They can be removed.\n';
  writeDurably(nodeFileSystem, join(rebuiltOf(run), 'README.txt'), about);
  return { ...built, directory: target };
}
