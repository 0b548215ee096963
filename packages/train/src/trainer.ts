/** A run from beginning to end: cold start, evaluation, reinforcement learning, evaluation, report. */
import { statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { DataError, type EventSink, joinSinks, stage } from '@saccade/core';
import { type Evaluation, evaluate } from '@saccade/eval';
import { type CoefficientSettings, createLearner, type Learner } from '@saccade/learner';
import {
  coldStart,
  coldStartOf,
  Interrupted,
  type Run,
  reinforce,
  saveRun,
  unlessStopped,
} from '@saccade/loop';
import {
  checkpointsOf,
  type Damage,
  describeDamage,
  findLatestCheckpoint,
  initialState,
  inspectRun,
  listCheckpoints,
  lockRun,
  makeDirectories,
  nodeFileSystem,
  openRunLog,
  type RunState,
  readMetrics,
  readState,
  totalSteps,
  trajectoriesOf,
  writeConfig,
  writeProfile,
} from '@saccade/run-store';
import { openTrackers, type Trackers } from '@saccade/trackers';
import { recordAttempt } from './environment.ts';
import { type RecipeSource, writeSource } from './load-recipe.ts';
import { openParts, type Parts } from './parts.ts';
import { profileWork } from './profile-work.ts';
import type { ResolvedRun } from './run-config.ts';
import { referenceWeights, startingWeights } from './start-from.ts';
import { type OpenSuites, openSuites, suitesOfRun } from './suites/open-suites.ts';

/** Options of `train`: what to run, where to write it, and how to hear of it. */
export interface TrainOptions {
  /** The configuration and its units: `resolveRun(inputOf(recipe))`. */
  readonly run: ResolvedRun;
  readonly directory: string;
  /** The interpreter of the sandbox; asked for only where code runs on this machine. */
  readonly python: () => Promise<string>;
  /** Whether to continue from the newest valid checkpoint of the directory. Default false. */
  readonly resume?: boolean;
  /** The recipe's file, so that a resumed run finds units that no catalog has. */
  readonly source?: RecipeSource;
  readonly onEvent: EventSink;
  /**
   * Whether the run should end. While parts are opened and examples gathered it ends at once, later
   * after the step or the evaluation that is under way, with a checkpoint.
   */
  readonly isStopRequested?: () => boolean;
  /**
   * Whether `profile.json` is to say where the time of this call went. Where kernels can block they
   * do, so that they are timed by op: metrics stay the same, but for times. Default false.
   */
  readonly isProfiled?: boolean;
}

/** How a call of `train` ended. */
export interface TrainResult {
  /** False if a person stopped the run; it can be resumed. */
  readonly isFinished: boolean;
  readonly final?: Evaluation;
}

/** Trains a run, or continues it. The same seed gives the same metrics, apart from timings. */
export async function train(options: TrainOptions): Promise<TrainResult> {
  if (options.isProfiled !== true) return await trainRun(options);
  const { directory, run } = options;
  let opened: Parts | undefined;
  const work = {
    what: `${run.config.recipe}, seed ${run.config.seed}`,
    areLaunchesBlocking: () => opened?.device.backend.isBlocking === true,
  };
  const onOpen = (parts: Parts): void => {
    opened = parts;
  };
  return await profileWork(
    work,
    () => trainRun(options, onOpen),
    (profile) => {
      // A directory that was refused is another run's.
      if (opened !== undefined) writeProfile(directory, profile);
    },
  );
}

async function trainRun(
  options: TrainOptions,
  onOpen?: (parts: Parts) => void,
): Promise<TrainResult> {
  const { run: resolved, directory, onEvent, isStopRequested = () => false } = options;
  const { config } = resolved;
  if (!options.resume && hasBegun(directory)) {
    throw new DataError(
      `${directory} holds a run already. Continue with --resume ${directory}, or choose another --out.`,
    );
  }
  makeDirectories(nodeFileSystem, trajectoriesOf(directory));
  const unlock = lockRun(directory);
  let parts: Parts | undefined;
  let log: Run['log'] | undefined;
  let trackers: Trackers | undefined;
  let suites: OpenSuites | undefined;
  try {
    // Before anything is opened: a name that is not known costs nothing.
    const wanted = await suitesOfRun(resolved);
    const opening = stage('opening', () => openParts(resolved, options));
    parts = await unlessStopped(isStopRequested, opening, (late) => late.dispose());
    onOpen?.(parts);
    const { sandbox } = parts;
    suites = await openSuites(wanted, { ...options, shared: { run: resolved, sandbox } });
    parts = { ...parts, suites: suites.suites };
    const { state, resumedFrom } = await startingPoint(options, parts);
    const inspection = options.resume
      ? await inspectRun(directory, { skips: ['checkpoints', 'metrics'] })
      : undefined;
    writeConfig(directory, config, { sources: sourcesOf(options) });
    const attempt = { fromStep: totalSteps(state) };
    const damage = [...(inspection?.damage ?? []), ...recordAttempt(directory, parts, attempt)];
    log = openRunLog(directory, state);
    warnOf([...damage, ...log.damage], onEvent);
    trackers = await openRunTrackers(options);
    const run: Run = {
      config,
      parts,
      learner: learnerOf(resolved, parts, () =>
        config.rl.reference === undefined
          ? coldStartOf(run)
          : referenceWeights(config.rl.reference, onEvent),
      ),
      directory,
      log: trackers.watch(log),
      onEvent: joinSinks(onEvent, trackers.sink),
      isStopRequested,
      state,
      ...(resumedFrom !== undefined && { resumedFrom }),
    };
    return await stages(run);
  } catch (error) {
    if (error instanceof Interrupted) return { isFinished: false };
    throw error;
  } finally {
    log?.close();
    await trackers?.close();
    await suites?.dispose();
    await parts?.dispose();
    unlock();
  }
}

/** Whether a run has left what another would write over. One that failed before has not. */
function hasBegun(directory: string): boolean {
  const rows = statSync(join(directory, 'metrics.jsonl'), { throwIfNoEntry: false });
  return (rows?.size ?? 0) > 0 || listCheckpoints(checkpointsOf(directory)).length > 0;
}

/** Opens the trackers of a run; the log is open, so its rows are those that stay. */
async function openRunTrackers({ run, directory, onEvent }: TrainOptions): Promise<Trackers> {
  const { config, units } = run;
  const chosen = (units.trackers ?? []).map((unit, index) => {
    const { name: _, ...settings } = config.trackers?.[index] ?? { name: unit.name };
    return { unit, settings };
  });
  const rows = chosen.length === 0 ? [] : readMetrics(directory).value.rows;
  return openTrackers(chosen, { directory, runName: basename(directory), config, rows }, onEvent);
}

/** The learner of a run's trajectories. */
function learnerOf(
  { config, units }: ResolvedRun,
  parts: Parts,
  referenceDirectory: () => string,
): Learner {
  const { policy, sampler, algorithm, images } = parts;
  // By another engine, from merged or quantized weights, or with keys and values of fewer bits: not
  // bit for bit as it scores.
  const isSampledOtherwise = sampler !== policy || !policy.samplesAsItScores;
  return createLearner({
    policy,
    algorithm,
    images,
    ...parts.optimizer,
    ...config.packing,
    minibatches: config.rl.minibatches,
    ...(isAdaptive(config.coefficients) && { control: config.coefficients }),
    temperature: config.rl.temperature,
    // Where weights change while rollouts run, the ratio has to be to the policy that sampled each
    // token. Sampling and scoring agree bit for bit on one engine.
    oldLogprobs: isSampledOtherwise && !units.scheduler?.isStreaming ? 'policy' : 'rollout',
    reference: () => parts.openReference(referenceDirectory()),
  });
}

function isAdaptive({ klControl, entropyControl }: CoefficientSettings): boolean {
  return klControl === 'adaptive' || entropyControl === 'adaptive';
}

/** Where the units came from that no catalog has. */
function sourcesOf({ run, source }: TrainOptions): Readonly<Record<string, string>> {
  // Units given in code are given again by the code that resumes.
  if (source === undefined) return {};
  return Object.fromEntries(run.outside.map((slot) => [slot, writeSource(source)]));
}

/** Says each damage once. */
function warnOf(damage: readonly Damage[], onEvent: EventSink): void {
  for (const message of new Set(damage.map(describeDamage))) onEvent({ kind: 'warning', message });
}

/** @throws Interrupted if a stop was asked for; the checkpoint is written */
async function stages(run: Run): Promise<TrainResult> {
  await stage('cold start', () => coldStart(run));
  if (!run.state.isWarm) {
    await evaluate(run, 'sft');
    // Reinforcement learning starts with moments of its own.
    await run.parts.policy.resetOptimizer();
    run.state = { ...run.state, isWarm: true };
    await saveRun(run, { pinned: true });
    if (run.isStopRequested()) throw new Interrupted();
  }
  // A finished run that was given more steps is not finished.
  const isFinished = run.state.isFinished && run.state.rlSteps >= run.config.rl.steps;
  run.state = { ...run.state, isFinished };
  await reinforce(run);
  if (run.state.isFinished) return { isFinished: true };
  const final = await evaluate(run, 'final');
  run.state = { ...run.state, isFinished: true };
  await saveRun(run, { pinned: true });
  return { isFinished: true, final };
}

/** A fresh state, or that of the newest valid checkpoint with its weights loaded. */
async function startingPoint(
  options: TrainOptions,
  parts: Parts,
): Promise<{ readonly state: RunState; readonly resumedFrom?: string }> {
  const { directory, onEvent } = options;
  const { startFrom } = options.run.config;
  const checkpoint = options.resume
    ? findLatestCheckpoint(checkpointsOf(directory), onEvent)
    : undefined;
  if (checkpoint === undefined) {
    if (startFrom !== undefined) await parts.policy.load(await startingWeights(startFrom));
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
