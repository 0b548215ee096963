/**
 * Launches queued beside launches that block JavaScript, in turns: sampling, a training step, what
 * the event loop waits meanwhile, and the way of one small array there and back.
 *
 * The policy and the groups are those of `grpo-step`. Both ways must give the same bits, which is
 * checked. The first round warms up and is left out.
 */
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setImmediate } from 'node:timers/promises';
import { add, type DeviceArray } from '@saccade/ops';
import type { LocalPolicy } from '@saccade/policy';
import { pairedRatio, type Ratio, type Sample, summarize } from './statistics.ts';
import {
  COMPLETION_TOKENS,
  type Groups,
  makePolicy,
  makePrompts,
  packGroups,
  sampleGroups,
} from './text-policy.ts';

const TRIPS = 200;

export interface QueuedLaunchesOptions {
  readonly rounds: number;
  readonly threads: number;
  readonly onRound?: (line: string) => void;
  readonly signal?: AbortSignal;
  readonly keep?: (soFar: QueuedLaunchesResult) => void;
}

/** Seconds of both ways. */
export interface Comparison {
  readonly queued: Sample;
  readonly blocking: Sample;
  /** Queued / blocking, of turns next to each other. */
  readonly ratio: Ratio;
}

export interface QueuedLaunchesResult {
  readonly sampling: Comparison;
  readonly training: Comparison;
  /** Longest time that the event loop was late during the training step. */
  readonly loopDelay: Comparison;
  /** One launch of 16 numbers and the read of its result. */
  readonly roundTrip: Comparison;
}

interface Round extends Record<keyof QueuedLaunchesResult, number> {
  /** Everything computed, to compare. */
  readonly digest: string;
}

/** @throws Error if a bit differs between the two ways */
export async function measureQueuedLaunches({
  rounds,
  threads,
  onRound,
  signal,
  keep,
}: QueuedLaunchesOptions): Promise<QueuedLaunchesResult> {
  const policies = [
    makePolicy({ threads, launches: 'queued' }),
    makePolicy({ threads, launches: 'blocking' }),
  ] as const;
  const queued: Round[] = [];
  const blocking: Round[] = [];
  const compare = (figure: keyof QueuedLaunchesResult): Comparison => {
    const [times, base] = [queued.map((r) => r[figure]), blocking.map((r) => r[figure])];
    return {
      queued: summarize(times),
      blocking: summarize(base),
      ratio: pairedRatio(times, base),
    };
  };
  const result = (): QueuedLaunchesResult => ({
    sampling: compare('sampling'),
    training: compare('training'),
    loopDelay: compare('loopDelay'),
    roundTrip: compare('roundTrip'),
  });
  try {
    for (let round = 0; round <= rounds; round++) {
      signal?.throwIfAborted();
      const one = await measure(policies[0], round);
      const other = await measure(policies[1], round);
      if (one.digest !== other.digest) throw new Error(`Round ${round} gives other bits queued.`);
      onRound?.(
        `round ${round} of ${rounds}: queued ${(one.sampling + one.training).toFixed(2)} s, ` +
          `blocking ${(other.sampling + other.training).toFixed(2)} s`,
      );
      if (round === 0) continue;
      queued.push(one);
      blocking.push(other);
      keep?.(result());
    }
    return result();
  } finally {
    for (const policy of policies) {
      policy.dispose();
      policy.device.dispose();
    }
  }
}

async function measure(policy: LocalPolicy, round: number): Promise<Round> {
  const prompts = makePrompts(round);
  let start = performance.now();
  const groups = await sampleGroups(policy, prompts, round);
  const sampling = (performance.now() - start) / 1000;
  const delay = monitorEventLoopDelay({ resolution: 1 });
  delay.enable();
  await setImmediate();
  start = performance.now();
  const result = await trainStep(policy, prompts, groups);
  await policy.device.synchronize();
  const training = (performance.now() - start) / 1000;
  await setImmediate();
  delay.disable();
  const drawn = groups.flat().map(({ tokens, logprobs }) => [[...tokens], [...logprobs]]);
  return {
    sampling,
    training,
    loopDelay: delay.max / 1e9,
    roundTrip: await roundTrip(policy),
    digest: JSON.stringify([drawn, result]),
  };
}

/** −Σ ±logprob / tokens, signs alternating, and a step of rate 0. */
async function trainStep(
  policy: LocalPolicy,
  prompts: readonly Int32Array[],
  groups: Groups,
): Promise<{ loss: number; gradNorm: number }> {
  const batch = packGroups(prompts, groups);
  const weights = Float32Array.from(
    batch.targets,
    (_, i) => ((i / COMPLETION_TOKENS) % 2 < 1 ? -1 : 0.5) / batch.targets.length,
  );
  const { loss } = await policy.forwardBackward(batch, ({ logprobs }) => ({
    loss: logprobs.reduce((sum, logprob, i) => sum + logprob * (weights[i] ?? 0), 0),
    gradLogprobs: weights,
  }));
  const { gradNorm } = await policy.optimizerStep({ learningRate: 0 });
  return { loss, gradNorm };
}

async function roundTrip({ device }: LocalPolicy): Promise<number> {
  const x = device.upload('f32', [1, 16], new Float32Array(16).fill(1));
  const start = performance.now();
  for (let trip = 0; trip < TRIPS; trip++) {
    const { y } = device.forward(add, { a: x, b: x }) as { y: DeviceArray };
    await device.read(y);
    device.free(y);
  }
  device.free(x);
  return (performance.now() - start) / 1000 / TRIPS;
}
