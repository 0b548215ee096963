/** The cold start: supervised learning on demonstrations, on the model's tokens alone. */

import { negativeLogLikelihood } from '@saccade/algorithms';
import { ConfigError, randomAt, timed } from '@saccade/core';
import type { Mixture } from '@saccade/data';
import { packTrajectories } from '@saccade/rollout';
import { logRow, totalSteps } from '@saccade/run-store';
import type { Trajectory } from '@saccade/trajectory';
import { Interrupted, type Run } from './run.ts';
import { saveRun } from './run-checkpoint.ts';

/** Runs the updates of the cold start that are still to do. */
export async function coldStart(run: Run): Promise<void> {
  const { sft, checkpoint } = run.config;
  if (run.config.startFrom !== undefined || run.state.sftUpdates >= sft.updates) return;
  const mixtures = await gather(run);
  while (run.state.sftUpdates < sft.updates) {
    const [row, seconds] = await timed(() => update(run, mixtures));
    logRow(run, { ...row, step_time: seconds });
    const { sftUpdates } = run.state;
    run.onEvent({ kind: 'progress', stage: 'cold start', done: sftUpdates, total: sft.updates });
    const isLast = sftUpdates === sft.updates;
    if (run.isStopRequested()) {
      await saveRun(run);
      throw new Interrupted();
    }
    if (sftUpdates % checkpoint.everySftUpdates === 0 && !isLast) await saveRun(run);
  }
}

/** The examples of the run's cold start that go into its updates. */
async function gather({ config, parts, onEvent }: Run): Promise<readonly Mixture[]> {
  const { coldStart: unit, taskSet, makeEnv, images, protocol, policy } = parts;
  const all =
    (await unit?.gather({
      taskSet,
      protocol,
      makeEnv,
      images,
      processor: policy.processor,
      seed: config.seed,
      concurrency: config.rollout.concurrency,
      onEvent,
    })) ?? [];
  const mixtures = all.filter(({ examples, perUpdate }) => examples.length > 0 && perUpdate > 0);
  if (mixtures.length > 0) return mixtures;
  throw new ConfigError(
    'coldStart',
    `coldStart: ${unit?.name ?? 'none'} gives no examples, and sft.updates is ` +
      `${config.sft.updates}. Raise its numbers of examples, or set sft.updates=0.`,
  );
}

/**
 * One optimizer step on a sum over the kinds, each averaged over its own tokens: in one average the
 * few tokens that say what a card shows would drown among the others.
 */
async function update(run: Run, mixtures: readonly Mixture[]) {
  const { config, parts, state } = run;
  const losses: Record<string, number> = {};
  let tokens = 0;
  for (const mixture of mixtures) {
    const batch = draw(mixture, state.sftUpdates, config.seed);
    const packing = await packTrajectories(
      batch.map((trajectory) => ({ trajectory, advantage: 1 })),
      {
        images: parts.images,
        maxTokens: config.packing.microBatchTokens,
        sharedPrefix: config.packing.sharedPrefix,
      },
    );
    let loss = 0;
    for (const microBatch of packing.microBatches) {
      const part = await parts.policy.forwardBackward(microBatch.packed, ({ logprobs }) =>
        negativeLogLikelihood({ ...microBatch, logprobs }, packing.counts),
      );
      loss += part.loss;
      tokens += microBatch.tokenCount;
    }
    losses[mixture.kind] = loss;
  }
  const { optimizer, schedule } = parts.sftOptimizer;
  const learningRate = schedule(state.sftUpdates);
  const { gradNorm } = await parts.policy.optimizerStep({ optimizer, learningRate });
  run.state = { ...state, sftUpdates: state.sftUpdates + 1, tokens: state.tokens + tokens };
  return {
    stage: 'sft' as const,
    step: totalSteps(run.state),
    loss: Object.values(losses).reduce((sum, loss) => sum + loss, 0),
    ...Object.fromEntries(Object.entries(losses).map(([kind, loss]) => [`loss/${kind}`, loss])),
    grad_norm: gradNorm,
    learning_rate: learningRate,
    num_tokens: run.state.tokens,
  };
}

/** The examples of an update: pass after pass through the kind, each pass in another order. */
function draw({ kind, examples, perUpdate }: Mixture, update: number, seed: number): Trajectory[] {
  const drawn: Trajectory[] = [];
  for (let i = update * perUpdate; i < (update + 1) * perUpdate; i++) {
    const pass = Math.floor(i / examples.length);
    const order = orderOf(kind, examples.length, pass, seed);
    const example = examples[order[i % examples.length] as number];
    if (example !== undefined) drawn.push(example);
  }
  return drawn;
}

const orders = new Map<string, Int32Array>();

/** A pass's order; the last one of each kind is remembered, since a pass spans many updates. */
function orderOf(kind: string, count: number, pass: number, seed: number): Int32Array {
  const key = `${seed}/${kind}/${count}/${pass}`;
  let order = orders.get(key);
  if (order === undefined) {
    const indices = Array.from({ length: count }, (_, i) => i);
    order = Int32Array.from(randomAt(seed, 'shuffle', kind, pass).shuffle(indices));
    if (orders.size > 8) orders.clear();
    orders.set(key, order);
  }
  return order;
}
