/** Replays trajectories that a run has kept: which, with which weights, and what came of it. */
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { ConfigError, DataError, type EventSink } from '@saccade/core';
import { idInTaskSet, type Task, type TaskSet } from '@saccade/gym';
import type { Sampler, TrainedPolicy } from '@saccade/policy';
import {
  describeDifference,
  ModelImages,
  type Replayed,
  type ReplayOptions,
  replay,
  streamOf,
} from '@saccade/rollout';
import {
  checkpointsOf,
  type Damage,
  describeDamage,
  listTrajectorySets,
  readTrajectorySet,
} from '@saccade/run-store';
import {
  openPlayground,
  openPolicyIn,
  openRunDevice,
  protocolOf,
  type ResolvedRun,
  type RunConfig,
  readRunConfig,
} from '@saccade/train';
import type { Trajectory } from '@saccade/trajectory';
import { findWeights, type KeptWeights, keptWeights, rebuildWeights } from './replay-weights.ts';

/** Selects kept trajectories; default: the first of every file. */
export interface ReplaySelection {
  readonly id?: string;
  /** A file of `trajectories/` without `.jsonl`. */
  readonly file?: string;
  /** Index within its file, from 0. */
  readonly index?: number;
  readonly all?: boolean;
}

export interface StoredPlay {
  readonly file: string;
  readonly index: number;
  readonly trajectory: Trajectory;
}

/** The trajectories to replay, and how to replay them. */
export interface ReplayRunOptions extends ReplaySelection {
  readonly onEvent: EventSink;
  /** Trains weights again that were not kept. */
  readonly rebuild?: boolean;
  /** Hears of trajectories whose weights are not kept, which are then left out; default: an error. */
  readonly onMissing?: (play: StoredPlay) => void;
  /** Runs the actions in the sandbox too, and compares what tools gave. */
  readonly live?: boolean;
  /** Interpreter of the sandbox; asked for only to rebuild or to run live. */
  readonly python?: () => Promise<string>;
}

/** The result of a replay, with every difference in words. */
export interface ReplayOutcome extends Pick<Replayed, 'trajectory' | 'isExact' | 'sampledTokens'> {
  readonly differences: readonly string[];
  readonly largestLogprobDifference: number;
}

/** A kept trajectory and the result of its replay. */
export interface ReplayedPlay {
  readonly play: StoredPlay;
  /** With the recorded tool results. */
  readonly recorded: ReplayOutcome;
  /** With the actions run again, where that was asked for. */
  readonly live?: ReplayOutcome;
  readonly weights: KeptWeights;
}

/**
 * Trajectories of a run or of one of its evaluations.
 *
 * @throws DataError if nothing is kept, or nothing of what was asked for
 */
export async function selectPlays(
  directory: string,
  { id, file, index, all = false }: ReplaySelection,
  onEvent: EventSink = () => {},
): Promise<readonly StoredPlay[]> {
  const listed = listTrajectorySets(directory);
  const names = listed.value;
  warnOf(listed.damage, onEvent);
  if (names.length === 0) {
    throw new DataError(
      `${directory} keeps no trajectories. Train with --set keepTrajectoriesEverySteps=1.`,
    );
  }
  if (file !== undefined && !names.includes(file)) {
    throw new DataError(
      `${directory} keeps no trajectories called "${file}". Known: ${names.join(', ')}.`,
    );
  }
  const plays: StoredPlay[] = [];
  let damaged = 0;
  for (const name of file === undefined ? names : [file]) {
    const { value, damage } = readTrajectorySet(directory, name);
    warnOf(damage, onEvent);
    for (const kept of value) {
      const at = kept.line - 1;
      const isChosen = id !== undefined ? kept.trajectory.id === id : all || at === (index ?? 0);
      if (!isChosen) continue;
      const loaded = await kept.load();
      warnOf(loaded.damage, onEvent);
      // A trajectory without one of its images is another trajectory.
      if (loaded.damage.length > 0) damaged++;
      else plays.push({ file: name, index: at, trajectory: loaded.value });
    }
  }
  if (plays.length > 0) return plays;
  if (damaged > 0) {
    throw new DataError(
      `${directory}: images of ${damaged} chosen trajectories are missing or damaged, so none can ` +
        'be replayed. Restore them from a copy.',
    );
  }
  const what = id === undefined ? `number ${index ?? 0}` : `"${id}"`;
  throw new DataError(
    `${directory} keeps no trajectory ${what} in ${file ?? names.join(', ')}. ` +
      'Indices count from 0; ids are those of the lines.',
  );
}

function warnOf(damage: readonly Damage[], onEvent: EventSink): void {
  for (const one of damage) onEvent({ kind: 'warning', message: describeDamage(one) });
}

/**
 * Replays them one after another, with the weights each was sampled with.
 *
 * @throws DataError if there is no run, the trajectories or the weights are not there, or a task can
 *   no longer be made for a live replay
 */
export async function* replayRun(
  directory: string,
  options: ReplayRunOptions,
): AsyncGenerator<ReplayedPlay> {
  const resolved = await readRunConfig(directory, options.onEvent);
  const { config } = resolved;
  const protocol = protocolOf(resolved);
  const plays = await selectPlays(directory, options, options.onEvent);
  const run = runOf(directory);
  const device = await openRunDevice(resolved);
  const live = options.live ? await openLive(resolved, options) : undefined;
  let loaded: { readonly policy: TrainedPolicy; readonly images: ModelImages } | undefined;
  let version: number | undefined;
  try {
    for (const play of plays) {
      const { trajectory } = play;
      if (options.onMissing && !options.rebuild && !isKept(run, trajectory)) {
        options.onMissing(play);
        continue;
      }
      const weights = await weightsOf(run, resolved, play, options);
      if (loaded === undefined) {
        const policy = await openPolicyIn(policyIn(weights), device);
        policy.configureEngine(config.policy);
        loaded = { policy, images: new ModelImages(policy.processor) };
        version = weights.policyVersion;
      }
      const { policy, images } = loaded;
      const sampling: ReplayOptions = {
        seed: config.seed,
        temperature: temperatureOf(config, trajectory),
        ...trajectory.truncation,
        maxTokensPerTurn: config.rollout.maxTurnTokens,
        maxContextTokens: config.rollout.maxContextTokens,
        images,
        stop: protocol.stop,
        beforeTurn: async (wanted) => {
          if (version === wanted) return;
          await policy.load(policyIn(findWeights(run, wanted)));
          version = wanted;
        },
      };
      const sampler = versioned(policy, () => version);
      const again = async (extra: Pick<ReplayOptions, 'live'>): Promise<ReplayOutcome> => {
        const { differences, ...rest } = await replay(sampler, trajectory, {
          ...sampling,
          ...extra,
        });
        const describe = (one: Replayed['differences'][number]) =>
          describeDifference(one, trajectory, policy.processor);
        return { ...rest, differences: differences.map(describe) };
      };
      const recorded = await again({});
      const env = await live?.makeEnv();
      try {
        const lived = env && live && { env, task: await taskOf(live.taskSet, trajectory) };
        const alive = lived && (await again({ live: lived }));
        yield { play, recorded, weights, ...(alive && { live: alive }) };
      } finally {
        await env?.dispose();
      }
    }
  } finally {
    await live?.dispose();
    loaded?.policy.dispose();
    device.dispose();
  }
}

/** An evaluation lies in `<run>/evaluations/<step>` and has no checkpoints of its own. */
function runOf(directory: string): string {
  return existsSync(checkpointsOf(directory)) ? directory : resolve(directory, '..', '..');
}

function policyIn({ directory }: KeptWeights): string {
  return join(directory, 'policy');
}

/** The policy under the version of the weights it has; it counts only its own steps. */
function versioned(policy: Sampler, version: () => number | undefined): Sampler {
  const now = (): number => version() ?? policy.version;
  return {
    get version() {
      return now();
    },
    processor: policy.processor,
    sample: async (request) => ({ ...(await policy.sample(request)), policyVersion: now() }),
    release: (key) => policy.release(key),
  };
}

function isKept(run: string, { policyVersion }: Trajectory): boolean {
  return keptWeights(run).some((one) => one.policyVersion === policyVersion);
}

async function weightsOf(
  run: string,
  resolved: ResolvedRun,
  { file, trajectory }: StoredPlay,
  { rebuild = false, python, onEvent }: ReplayRunOptions,
): Promise<KeptWeights> {
  const { policyVersion } = trajectory;
  if (!rebuild || isKept(run, trajectory)) return findWeights(run, policyVersion);
  if (python === undefined) {
    throw new ConfigError('python', 'Training weights again needs the sandbox’s Python.');
  }
  const rlSteps = stepsBefore(file, trajectory, resolved.config);
  const wanted = { policyVersion, rlSteps };
  return rebuildWeights(run, resolved, wanted, { python, onEvent });
}

/** Steps of reinforcement learning done when a trajectory was sampled. */
function stepsBefore(file: string, trajectory: Trajectory, { rl }: RunConfig): number {
  const training = /^train\/(\d+)/.exec(streamOf(trajectory))?.[1];
  if (training !== undefined) return Number(training);
  if (file === 'evaluation-sft') return 0;
  if (file === 'evaluation-final') return rl.steps;
  const evaluated = /^evaluation-step-(\d+)$/.exec(file)?.[1];
  if (evaluated !== undefined) return Number(evaluated);
  throw new DataError(
    `It is not known after how many steps ${trajectory.id} of ${file} was sampled, so its weights ` +
      'cannot be trained again. Replay it where its checkpoint is kept.',
  );
}

function temperatureOf({ rl, evaluation }: RunConfig, trajectory: Trajectory): number {
  return streamOf(trajectory).startsWith('train/') ? rl.temperature : evaluation.temperature;
}

async function openLive(run: ResolvedRun, { python, onEvent }: ReplayRunOptions) {
  if (python === undefined) {
    throw new ConfigError('python', 'A live replay needs the sandbox’s Python.');
  }
  return await openPlayground(run, { python, onEvent });
}

/** The task of a trajectory; task sets end their ids with split and index. */
async function taskOf(taskSet: TaskSet, { taskId }: Trajectory): Promise<Task> {
  const known = idInTaskSet(taskId);
  const [, split, index] = /-(train|heldOut)-(\d+)$/.exec(known) ?? [];
  if (split === 'train' || split === 'heldOut') {
    const task = await taskSet.task(split, Number(index));
    if (task.id === known) return { ...task, id: taskId };
  }
  throw new DataError(
    `The task set ${taskSet.name} makes no task ${taskId}. Replay it without --live.`,
  );
}
