/** Simulated tasks: how long a rollout takes, where it fails, and what its reward is. */
import { randomAt } from '@saccade/core';
import {
  boundaries,
  type Failure,
  type ScoredTrajectory,
  type Segment,
  type Turn,
} from '@saccade/trajectory';

/**
 * The conditions of a simulated run: how long rollouts take, what fails, and how many run at a
 * time. Everything is drawn from `seed`.
 */
export interface SimulationOptions {
  readonly steps: number;
  readonly groupSize: number;
  /** Rollouts of a task that are no trajectories of its group; it fails without them. Default 0. */
  readonly baselinesPerTask?: number;
  readonly seed: number;
  /** Share of attempts that fail, at a boundary drawn at random. Default 0.1. */
  readonly failureRate?: number;
  /** Retries of a rollout that failed. Default 1. */
  readonly retries?: number;
  /** Share of rollouts with a slow tool, and how many times as long they take. Default 0.1 and 10. */
  readonly slowRate?: number;
  readonly slowFactor?: number;
  /** Mean seconds of a rollout, exponentially distributed; 0 for exactly one second. Default 1. */
  readonly spread?: number;
  /** Share of tasks that are cancelled from outside. Default 0. */
  readonly cancelRate?: number;
  /** Mean seconds between crashes, of which there are three at most; 0 for none. Default 0. */
  readonly crashSeconds?: number;
  /** Seconds between events of the clock; 0 for none. Default 0. */
  readonly tickSeconds?: number;
  /** Rollouts that run at a time; others queue. Default: all. */
  readonly workers?: number;
  /** Seconds of an optimizer step. Default 1. */
  readonly trainSeconds?: number;
  /** Seconds after which the run is ended, wherever it is. Default: after its steps. */
  readonly endSeconds?: number;
}

/** An attempt at a rollout: how long it takes, and where it breaks if it does. */
export interface Attempt {
  readonly seconds: number;
  readonly boundary?: Failure['boundary'];
}

interface Address {
  readonly taskId: string;
  readonly visit: number;
}

interface Sample {
  readonly sampleIndex: number;
  readonly attempt: number;
  readonly version: number;
}

/** Its times and faults have an address, so they depend on no order. */
export function drawAttempt(
  options: SimulationOptions,
  { taskId, visit }: Address,
  { sampleIndex, attempt }: Sample,
): Attempt {
  const { failureRate = 0.1, slowRate = 0.1, slowFactor = 10, spread = 1 } = options;
  const random = randomAt(options.seed, taskId, 64 * visit + sampleIndex, attempt);
  const isBroken = random.uniform() < failureRate;
  // The same tool is as slow at the second attempt.
  const isSlow = randomAt(options.seed, taskId, sampleIndex).uniform() < slowRate;
  const seconds = (isSlow ? slowFactor : 1) * (spread > 0 ? -Math.log(random.uniform()) : 1);
  if (!isBroken) return { seconds };
  return { seconds: seconds * random.uniform(), boundary: random.pick(boundaries) };
}

/** The outcome of a rollout: its task is easy or hard, its later turn as new as the weights. */
export function trajectoryOf(
  options: SimulationOptions,
  { taskId, visit }: Address,
  { sampleIndex, version }: Sample,
  newest: number,
): ScoredTrajectory {
  const rate = randomAt(options.seed, taskId, 'rate').uniform();
  const random = randomAt(options.seed, taskId, 'outcome', 64 * visit + sampleIndex);
  const isBroken = random.uniform() < 0.2;
  const isCorrect = !isBroken && random.uniform() < rate;
  const reward = isCorrect ? 1 + 0.1 * random.integer(5) : 0;
  const end = { reward, isCorrect, isBroken, policyVersion: version, newestVersion: newest };
  const trajectory = simulatedTrajectory(taskId, sampleIndex, end);
  return visit === 0 ? trajectory : { ...trajectory, id: `${trajectory.id}~${visit}` };
}

const image = {
  name: 'image_clue_1',
  png: new Uint8Array(0),
  width: 28,
  height: 28,
  modelWidth: 28,
  modelHeight: 28,
  tokenCount: 1,
};
const written = { tokens: Int32Array.of(2), logprobs: Float32Array.of(-1), images: [] };
const opening: readonly Segment[] = [
  { kind: 'prompt', tokens: Int32Array.of(1), images: [], text: 'question' },
  { kind: 'model', text: 'look', ...written },
  { kind: 'observation', tokens: Int32Array.of(3), images: [image], text: 'seen' },
];
const look: Turn = { action: { kind: 'code', code: 'look()' }, segment: 1 };
const last: Segment = { kind: 'model', text: 'turn', ...written };
const answered: readonly Turn[] = [look, { action: { kind: 'answer', answer: '7' }, segment: 3 }];
const broke: readonly Turn[] = [look, { action: { kind: 'code', code: 'x' }, segment: 3 }];

/** A scored trajectory of a look and another turn, for simulations and tests. */
export function simulatedTrajectory(
  taskId: string,
  sampleIndex: number,
  end: {
    reward: number;
    isCorrect?: boolean;
    isBroken?: boolean;
    /** Version of the first turn. Default 0. */
    policyVersion?: number;
    /** Version of the last turn. Default that of the first. */
    newestVersion?: number;
  },
): ScoredTrajectory {
  const { reward, isCorrect = reward > 0, isBroken = false, policyVersion = 0 } = end;
  const { newestVersion = policyVersion } = end;
  const newer = newestVersion > policyVersion ? { policyVersion: newestVersion } : {};
  return {
    id: `${taskId}/${sampleIndex}`,
    taskId,
    sampleIndex,
    segments: [...opening, { ...last, ...newer }],
    turns: isBroken ? broke : answered,
    stopReason: isBroken ? 'toolError' : 'answered',
    policyVersion,
    ...(!isBroken && { answer: '7' }),
    reward,
    rewardTerms: { reward },
    isCorrect,
  };
}
