/** Trainings through processes that are killed, beside one that nothing disturbs. */
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { nativeBackend } from '@saccade/backend-native';
import { openDevice } from '@saccade/ops';
import { models } from '@saccade/policy/models';
import { isTiming, readMetrics } from '@saccade/run-store';
import {
  countsOf,
  type Disk,
  enginesOf,
  type FaultPlan,
  kindOf,
  type Link,
  type LinkCount,
  type Setup,
} from './fault-plan.fixture.ts';
import { Scene } from './fault-scene.fixture.ts';

const bin = fileURLToPath(new URL('../../bin/saccade.js', import.meta.url));
/** Most times that a controller is started in a plan. */
const MOST_STARTS = 8;

/** What a training came to. */
interface Outcome {
  /** Metrics, without what the clock says. */
  readonly rows: readonly Record<string, unknown>[];
  /** SHA-256 of the final weights with the optimizer's state, as the learner gave it. */
  readonly sha256: string;
  /** Optimizer steps of them. */
  readonly version: number;
}

/** How a plan went. */
export interface Played extends Outcome {
  /** Faults that happened, by kind. */
  readonly faults: Readonly<Record<string, number>>;
  /** Requests by link. */
  readonly counts: Readonly<Record<Link, LinkCount>>;
  /** Starts of the controller. */
  readonly starts: number;
  /** What controllers said that ended with an error. */
  readonly errors: readonly string[];
  /** Servers that ended and nobody had killed. */
  readonly crashes: number;
  /** Processes that were left. */
  readonly left: readonly number[];
  /** Weights on the learner's disk that no checkpoint names. */
  readonly unnamed: readonly string[];
}

/** Where plans are played. */
interface CampaignOptions {
  readonly folder: string;
  readonly base: string;
  readonly python?: string;
  /** Seconds that a plan may take. */
  readonly seconds: number;
  /** Steps of reinforcement learning, of two optimizer steps each. */
  readonly steps: number;
}

const small = [
  'coldStart.demonstrations=8',
  'coldStart.tours=2',
  'coldStart.readings=2',
  'coldStart.captions=2',
  'coldStart.batchSize=4',
  'evaluation.count=2',
  'keepTrajectoriesEverySteps=0',
  'backend.threads=1',
];

/** A policy that a short cold start has taught, to begin with. */
export function makeBase(folder: string, updates: number): string {
  const set = [...small, `sft.updates=${updates}`, 'rl.steps=0', `checkpoint.everySftUpdates=1000`];
  const words = ['train', 'smoke', '--out', folder, ...set.flatMap((one) => ['--set', one])];
  const { status, stdout, stderr } = spawnSync(process.execPath, [bin, ...words], {
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(`There is no base: ${stdout}${stderr}`);
  return join(newestCheckpoint(folder), 'policy');
}

/** A policy of random weights: made in a fraction of the time. */
export async function makeRandomBase(directory: string): Promise<string> {
  const device = openDevice(nativeBackend({ threads: 1 }));
  const nano = models.get('nano');
  const settings = nano.settings.parse({
    layers: 1,
    hidden: 32,
    heads: 2,
    kvHeads: 1,
    intermediate: 64,
    visionLayers: 1,
    visionHidden: 16,
    visionHeads: 1,
    visionIntermediate: 32,
  });
  const corpus = ['Which digit is on the card? Look at the image, then answer.'];
  const policy = await nano.open(settings, { device, seed: 1, valueHead: false, corpus });
  await policy.save(directory);
  await policy.dispose();
  device.dispose();
  return directory;
}

/** Trains as a plan has it. */
export async function play(
  plan: FaultPlan,
  counts: Readonly<Record<Link, LinkCount>>,
  { folder, seconds, steps, ...rest }: CampaignOptions,
): Promise<Played> {
  const own = join(folder, `${plan.setup}-${plan.seed}`);
  rmSync(own, { recursive: true, force: true });
  const scene = await Scene.open({ folder: own, plan, ...rest });
  const late = new AbortController();
  try {
    scene.schedule(counts);
    const isLate = sleep(1000 * seconds, undefined, { signal: late.signal }).then(() => {
      throw new Error(`Seed ${plan.seed} took more than ${seconds} s; its logs are in ${own}.`);
    });
    isLate.catch(() => {});
    const trained = trainToTheEnd(scene, rest.base, steps);
    trained.catch(() => {});
    const { starts, errors } = await Promise.race([trained, isLate]);
    const faults: Record<string, number> = {};
    for (const fault of scene.fired) faults[kindOf(fault)] = (faults[kindOf(fault)] ?? 0) + 1;
    for (const [kind, count] of Object.entries(scene.networkFaults)) faults[kind] = count;
    const seen = countsOf((link) => scene.count(link));
    const outcome = outcomeOf(scene.run);
    const { crashes } = scene;
    const unnamed = unnamedSaves(scene);
    const told = { faults, counts: seen, starts, errors, crashes, unnamed };
    return { ...outcome, ...told, left: await scene.close() };
  } finally {
    late.abort();
    await scene.close();
  }
}

async function trainToTheEnd(
  scene: Scene,
  base: string,
  steps: number,
): Promise<{ readonly starts: number; readonly errors: readonly string[] }> {
  const errors: string[] = [];
  for (let starts = 1; starts <= MOST_STARTS; starts++) {
    const hasBegun = existsSync(join(scene.run, 'config.json'));
    const words = hasBegun ? ['train', '--resume', scene.run] : firstWords(scene, base, steps);
    const { code, signal, stderr } = await scene.control(words);
    if (code === 0) return { starts, errors };
    if (signal !== 'SIGKILL') errors.push(stderr.trim());
    // A person makes room, then goes on.
    scene.giveRoom();
  }
  throw new Error(`${MOST_STARTS} starts of the controller were not enough: ${errors.join('\n')}`);
}

function firstWords(scene: Scene, base: string, steps: number): readonly string[] {
  const engines = enginesOf(scene.setup).map((link) => scene.url(link));
  const set = [
    ...small,
    'model=remote',
    `model.baseUrl=${scene.url('learner')}`,
    `model.from=${base}`,
    'model.recoverySteps=2',
    'model.returnSeconds=300',
    ...(engines.length === 0
      ? []
      : ['engine=http', `engine.baseUrl=${engines.join(',')}`, 'engine.returnSeconds=300']),
    'sft.updates=2',
    `rl.steps=${steps}`,
    'rl.groupSize=4',
    'rl.minibatches=2',
    'scheduler.promptsPerStep=1',
    'scheduler.oversample=1',
    // So small a policy is seldom right: without it few weights would change.
    'algorithm.entropyCoefficient=0.01',
    'rollout.maxTurnTokens=24',
    'checkpoint.everySftUpdates=1',
    'checkpoint.keep=2',
  ];
  return ['train', 'smoke', '--out', scene.run, ...set.flatMap((one) => ['--set', one])];
}

function newestCheckpoint(run: string): string {
  const [newest = ''] = readdirSync(join(run, 'checkpoints')).sort().reverse();
  return join(run, 'checkpoints', newest);
}

function outcomeOf(run: string): Outcome {
  const record = join(newestCheckpoint(run), 'policy', 'remote-learner.json');
  const { sha256, version } = JSON.parse(readFileSync(record, 'utf8'));
  const rows = readMetrics(run).value.rows.map((row) =>
    Object.fromEntries(Object.entries(row).filter(([name]) => !isTiming(name))),
  );
  return { rows, sha256, version };
}

/** What a server that was killed was writing or removing. */
const HALF = /\.(partial|old|replaced|deleted)/;
/** A controller that is killed leaves its saves for a loss, and that of a checkpoint it did not finish. */
const SAVES_OF_KILLED = 4;

/** Weights on the learner's disk that no checkpoint names. */
function unnamedSaves(scene: Scene): readonly string[] {
  const kept = join(scene.run, 'checkpoints');
  const named = readdirSync(kept).map((name) => {
    const record = join(kept, name, 'policy', 'remote-learner.json');
    return JSON.parse(readFileSync(record, 'utf8')).uri as string;
  });
  return readdirSync(scene.checkpoints).flatMap((model) => {
    const weights = join(scene.checkpoints, model, 'weights');
    return (existsSync(weights) ? readdirSync(weights) : [])
      .filter((name) => !HALF.test(name))
      .map((name) => `tinker://${model}/weights/${name}`)
      .filter((uri) => !named.includes(uri));
  });
}

/** What is wrong with how a plan went, beside an undisturbed one; nothing if it is undefined. */
export function problemOf(plan: FaultPlan, played: Played, whole: Outcome): string | undefined {
  const { rows, sha256, version, errors, crashes, left, unnamed } = played;
  if (version !== whole.version) {
    return `${version} optimizer steps were applied, and ${whole.version} were to be.`;
  }
  const differing = whole.rows.findIndex((row, at) => !isEqual(row, rows[at]));
  if (differing >= 0) {
    const [expected, found] = [whole.rows[differing], rows[differing]];
    return `Row ${differing} of the metrics differs: ${differences(expected, found)}`;
  }
  if (rows.length !== whole.rows.length) return `There are ${rows.length} rows of metrics.`;
  if (sha256 !== whole.sha256) return `The weights differ: ${sha256}, not ${whole.sha256}.`;
  const wrong = errors.find((error) => !isAllowed(plan, error));
  if (wrong !== undefined) return `The run ended with an error: ${wrong}`;
  if (crashes > 0) return `${crashes} servers ended by themselves.`;
  if (unnamed.length > SAVES_OF_KILLED * (played.starts - 1)) {
    return `The learner keeps what no checkpoint names: ${unnamed.join(', ')}.`;
  }
  if (left.length > 0) return `Processes are left: ${left.join(', ')}.`;
  return undefined;
}

/**
 * Whether a run may end with this error: one line without a stack, that there is no room on a disk, or that
 * nobody listens where an engine that never answered yet should be.
 */
function isAllowed({ faults }: FaultPlan, error: string): boolean {
  const [line = '', ...others] = error.split('\n').filter((one) => one.startsWith('error: '));
  if (others.length > 0 || /\n\s+at /.test(error)) return false;
  const isFull = (disk: Disk): boolean =>
    faults.some((fault) => fault.kind === 'full disk' && fault.disk === disk);
  const isAway = faults.some((fault) => fault.kind === 'kill' && /engine$/.test(fault.victim));
  return (
    (isFull('run') && /the disk is full/i.test(line)) ||
    // It names the disk that is full, which is not the run's.
    (isFull('server') && /-\d+\/checkpoints\/.*no space left/i.test(line)) ||
    (isAway && /cannot be reached: .*Start the server/.test(line))
  );
}

function isEqual(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

function differences(
  expected: Readonly<Record<string, unknown>> = {},
  found: Readonly<Record<string, unknown>> = {},
): string {
  const names = [...new Set([...Object.keys(expected), ...Object.keys(found)])];
  const differing = names.filter((name) => !isEqual(expected[name], found[name]));
  return differing.map((name) => `${name} is ${found[name]}, not ${expected[name]}`).join('; ');
}

/** An undisturbed plan of a setup. */
export function quietPlan(setup: Setup): FaultPlan {
  return { seed: -1, setup, faults: [] };
}
