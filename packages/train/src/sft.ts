/** The cold start: supervised learning on demonstrations, on the model's tokens alone. */
import { negativeLogLikelihood } from '@saccade/algorithms';
import { randomAt } from '@saccade/core';
import { adamw, cosine } from '@saccade/optim';
import { packTrajectories } from '@saccade/rollout';
import type { Trajectory } from '@saccade/trajectory';
import type { Mixture } from './cold-start.ts';
import { Interrupted, logRow, type Run, timed, totalSteps } from './run.ts';
import { saveRun } from './run-checkpoint.ts';

/** Second-moment decay of AdamW in the cold start: short, for its few hundred updates. */
const BETA2 = 0.98;

/** Runs the updates of the cold start that are still to do. */
export async function coldStart(run: Run): Promise<void> {
  const { sft, checkpoint } = run.config;
  if (run.config.startFrom !== 'none' || run.state.sftUpdates >= sft.updates) return;
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
  const { coldStart: kind, taskSet, makeEnv, images, protocol, policy } = parts;
  const { processor } = policy;
  const all = await kind.gather({
    config,
    processor,
    taskSet,
    makeEnv,
    images,
    protocol,
    onEvent,
  });
  return all.filter(({ examples, perUpdate }) => examples.length > 0 && perUpdate > 0);
}

/**
 * One optimizer step on a sum over the kinds, each averaged over its own tokens: in one average the
 * few tokens that say what a card shows would drown among the others.
 */
async function update(run: Run, mixtures: readonly Mixture[]) {
  const { config, parts, state } = run;
  const { sft } = config;
  const losses: Record<string, number> = {};
  let tokens = 0;
  for (const mixture of mixtures) {
    const batch = draw(mixture, state.sftUpdates, config.seed);
    const packing = await packTrajectories(
      batch.map((trajectory) => ({ trajectory, advantage: 1 })),
      {
        images: parts.images,
        maxTokens: config.microBatchTokens,
        sharedPrefix: config.sharedPrefix,
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
  const schedule = cosine.create(
    { peak: sft.learningRate, total: sft.updates },
    { warmupFraction: sft.warmupFraction, finalFraction: sft.finalFraction },
  );
  const learningRate = schedule(state.sftUpdates);
  const { gradNorm } = await parts.policy.optimizerStep({
    learningRate,
    optimizer: adamw.create({
      beta2: BETA2,
      weightDecay: sft.weightDecay,
      maxGradNorm: sft.maxGradNorm,
    }),
  });
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
