/** The cold start: supervised learning on scripted trajectories, on the model's tokens alone. */
import { randomAt } from '@saccade/core';
import { adamw, cosine, type Schedule } from '@saccade/optim';
import { packTrajectories } from '@saccade/rollout';
import type { Trajectory } from '@saccade/trajectory';
import { type CardsOptions, cardsTask } from '../task/cards.ts';
import {
  type DemonstrationMix,
  demonstrate,
  guide,
  readingMix,
  tourMix,
} from './demonstrations.ts';
import type { Examples } from './presets.ts';
import type { Run } from './run.ts';

/** Second-moment decay of AdamW: short, for a few hundred updates. */
const BETA2 = 0.98;
/** Tasks whose demonstrations are made between two looks at the clock of the page. */
const CHUNK = 32;

/** Examples of one kind, and how many of them go into an update. */
interface Mixture {
  readonly kind: string;
  readonly examples: readonly Trajectory[];
  readonly perUpdate: number;
}

/** Learns to write calls, to find cards and to read them, and to be careless about it. */
export async function coldStart(run: Run): Promise<void> {
  const { preset } = run.settings;
  const { updates, learningRate } = preset.coldStart;
  const mixtures = await gather(run);
  const schedule = cosine.create(
    { peak: learningRate, total: updates },
    { warmupFraction: 0.05, finalFraction: 0.05 },
  );
  run.onEvent({ kind: 'progress', stage: 'cold start', done: 0, total: updates });
  for (let step = 0; step < updates; step++) {
    await run.pass();
    const values = await update(run, mixtures, step, schedule);
    run.onEvent({ kind: 'step', stage: 'cold start', step: step + 1, values });
    run.onEvent({ kind: 'progress', stage: 'cold start', done: step + 1, total: updates });
  }
  // Its moments belong to another loss.
  run.parts.policy.resetOptimizer();
}

async function gather(run: Run): Promise<readonly Mixture[]> {
  const { parts, settings } = run;
  const { processor } = parts.policy;
  const { coldStart, task, toolCalls } = settings.preset;
  const { mix, tours, demonstrations, readings } = coldStart;
  const total = tours.count + demonstrations.count + readings.count;
  let done = 0;
  const make = async (
    kindMix: DemonstrationMix,
    first: number,
    { count }: Examples,
    options: CardsOptions = task,
  ): Promise<readonly Trajectory[]> => {
    const made: Trajectory[] = [];
    while (made.length < count) {
      await run.pass();
      const start = first + made.length;
      const size = Math.min(CHUNK, count - made.length);
      const tasks = Array.from({ length: size }, (_, i) => cardsTask(options, 'train', start + i));
      const { makeEnv, images } = parts;
      const { cells } = options;
      const how = { makeEnv, processor, images, mix: kindMix, cells, toolCalls };
      made.push(...(await demonstrate(tasks, { ...how, seed: settings.seed })));
      done += size;
      run.onEvent({ kind: 'progress', stage: 'preparing', done, total });
    }
    return made;
  };
  const toured = await make(tourMix(mix), 0, tours);
  const shown = await make(mix, tours.count, demonstrations);
  const read = await make(readingMix, 0, readings, { ...task, cells: 1, cards: 1 });
  const guided = (list: readonly Trajectory[]) => list.map((one) => guide(one, processor));
  return [
    { kind: 'tours', examples: guided(toured), perUpdate: tours.perUpdate },
    { kind: 'demonstrations', examples: shown, perUpdate: demonstrations.perUpdate },
    { kind: 'readings', examples: guided(read), perUpdate: readings.perUpdate },
  ];
}

/**
 * One optimizer step on a sum over the kinds, each averaged over its own tokens: in one average the
 * few tokens that say what a card shows would drown among the others.
 *
 *   L = −Σ_kind Σₜ logprobₜ / tokens(kind)
 *
 * All kinds go through the policy together; a token's weight travels as its advantage.
 */
async function update(
  run: Run,
  mixtures: readonly Mixture[],
  step: number,
  schedule: Schedule,
): Promise<Record<string, number>> {
  const { policy, images } = run.parts;
  const items = mixtures.flatMap((mixture) => {
    const batch = draw(mixture, step, run.settings.seed);
    const tokens = batch.reduce((sum, trajectory) => sum + countTokens(trajectory), 0);
    return batch.map((trajectory) => ({ trajectory, advantage: 1 / tokens, kind: mixture.kind }));
  });
  const { microBatches, counts } = await packTrajectories(items, {
    images,
    maxTokens: run.settings.preset.microBatchTokens,
  });
  const losses: Record<string, number> = {};
  let entropySum = 0;
  for (const { packed, advantages, sequenceOffsets, itemIndices } of microBatches) {
    const { logprobs, entropy } = await policy.forwardBackward(packed, ({ logprobs: scored }) => ({
      loss: -scored.reduce((sum, logprob, t) => sum + logprob * (advantages[t] ?? 0), 0),
      gradLogprobs: advantages.map((weight) => -weight),
    }));
    entropySum += entropy.reduce((sum, value) => sum + value, 0);
    itemIndices.forEach((item, s) => {
      const { kind = '' } = items[item] ?? {};
      const [start = 0, end = 0] = sequenceOffsets.subarray(s, s + 2);
      for (let t = start; t < end; t++) {
        losses[kind] = (losses[kind] ?? 0) - (logprobs[t] ?? 0) * (advantages[t] ?? 0);
      }
    });
  }
  const { gradNorm } = await policy.optimizerStep({
    learningRate: schedule(step),
    optimizer: adamw.create({ beta2: BETA2, weightDecay: 0.01, maxGradNorm: 1 }),
  });
  const loss = Object.values(losses).reduce((sum, value) => sum + value, 0);
  return { loss, ...losses, entropy: entropySum / counts.tokens, gradNorm };
}

/** Tokens the model wrote. */
function countTokens({ segments }: Trajectory): number {
  return segments.reduce(
    (sum, { kind, tokens }) => sum + (kind === 'model' ? tokens.length : 0),
    0,
  );
}

/** The examples of an update: pass after pass through the kind, each pass in another order. */
function draw({ kind, examples, perUpdate }: Mixture, step: number, seed: number): Trajectory[] {
  const first = step * perUpdate;
  return Array.from({ length: perUpdate }, (_, offset) => first + offset).flatMap((at) => {
    const order = orderOf(kind, examples.length, Math.floor(at / examples.length), seed);
    return examples[order[at % examples.length] ?? 0] ?? [];
  });
}

let lastOrders = new Map<string, readonly number[]>();

/** A pass's order; the latest ones are remembered, since a pass spans many updates. */
function orderOf(kind: string, count: number, pass: number, seed: number): readonly number[] {
  const key = `${seed}/${kind}/${count}/${pass}`;
  let order = lastOrders.get(key);
  if (order === undefined) {
    const indices = Array.from({ length: count }, (_, i) => i);
    order = randomAt(seed, 'shuffle', kind, pass).shuffle(indices);
    if (lastOrders.size > 8) lastOrders = new Map();
    lastOrders.set(key, order);
  }
  return order;
}
