/**
 * Supervised learning: a policy imitates trajectories, kind by kind. It trains on the model's tokens
 * alone.
 */
import { negativeLogLikelihood } from '@saccade/algorithms';
import { randomAt, stage } from '@saccade/core';
import type { Mixture } from '@saccade/data';
import type { Optimizer, Schedule } from '@saccade/optim';
import type { Policy } from '@saccade/policy';
import { type ModelImages, packTrajectories } from '@saccade/rollout';
import type { Trajectory } from '@saccade/trajectory';

/**
 * Options of `createSupervisedLearner`: the policy it trains, its optimizer and schedule, and how
 * examples are packed.
 */
export interface SupervisedLearnerOptions {
  readonly policy: Pick<Policy, 'forwardBackward' | 'optimizerStep'>;
  readonly images: ModelImages;
  /** Steps by the accumulated gradient. Default: the policy's own default. */
  readonly optimizer?: Optimizer;
  /** The learning rate of each update. */
  readonly schedule: Schedule;
  /** Seed of the order of the examples. */
  readonly seed: number;
  /** Packed tokens per forward and backward pass. Default 8192. */
  readonly microBatchTokens?: number;
  /** Whether a group's prompt and images are computed once. Default true. */
  readonly sharedPrefix?: boolean;
}

/** The report of one supervised update. */
export interface SupervisedResult {
  /** Sum of `losses`, nats. */
  readonly loss: number;
  /** Mean negative log-likelihood of a token, by kind, nats. */
  readonly losses: Readonly<Record<string, number>>;
  /** Mean entropy over the tokens of all kinds, nats. */
  readonly entropy: number;
  /** Global gradient norm before clipping. */
  readonly gradNorm: number;
  readonly learningRate: number;
  /** Packed tokens, trained or not: what the policy computed. */
  readonly tokenCount: number;
  /** True where the norm was not finite: weights and moments stayed as they were. */
  readonly isSkipped: boolean;
}

/** Learns from demonstrations. */
export interface SupervisedLearner {
  /**
   * One optimizer step on a sum over the kinds, each averaged over its own tokens: in one average the
   * few tokens that say what an image shows would drown among the others.
   *
   *   L = Σ_kind −Σₜ logprobₜ / tokens(kind)
   *
   * @param update  updates that came before: for the learning rate, and for the examples, which are
   *                the next `perUpdate` of each kind
   */
  learn(mixtures: readonly Mixture[], update: number): Promise<SupervisedResult>;
}

/** A learner that imitates demonstrations. */
export function createSupervisedLearner(options: SupervisedLearnerOptions): SupervisedLearner {
  const { policy, optimizer, schedule, seed } = options;
  const orderOf = rememberOrders(seed);
  return {
    async learn(mixtures, update) {
      const losses: Record<string, number> = {};
      let [tokenCount, trainedTokens, entropySum] = [0, 0, 0];
      for (const mixture of mixtures) {
        const part = await accumulate(options, draw(mixture, update, orderOf));
        losses[mixture.kind] = part.loss;
        tokenCount += part.tokenCount;
        trainedTokens += part.trainedTokens;
        entropySum += part.entropySum;
      }
      const learningRate = schedule(update);
      const step = { ...(optimizer && { optimizer }), learningRate };
      const { gradNorm, isSkipped } = await stage('optimizer', () => policy.optimizerStep(step), {
        rest: 'optimizer',
      });
      const loss = Object.values(losses).reduce((sum, one) => sum + one, 0);
      const entropy = entropySum / trainedTokens;
      return { loss, losses, entropy, gradNorm, learningRate, tokenCount, isSkipped };
    },
  };
}

/** Adds up the gradient of one kind over its micro-batches. */
async function accumulate(
  options: SupervisedLearnerOptions,
  examples: readonly Trajectory[],
): Promise<Record<'loss' | 'tokenCount' | 'trainedTokens' | 'entropySum', number>> {
  const { policy, images, microBatchTokens: maxTokens = 8192, sharedPrefix = true } = options;
  const items = examples.map((trajectory) => ({ trajectory }));
  const pack = () => packTrajectories(items, { images, maxTokens, sharedPrefix });
  const { microBatches, counts } = await stage('packing', pack, { rest: 'packing' });
  let [loss, tokenCount, entropySum] = [0, 0, 0];
  for (const microBatch of microBatches) {
    const gradient = () =>
      policy.forwardBackward(microBatch.packed, ({ logprobs }) => {
        const lossMask = new Float32Array(logprobs.length).fill(1);
        return negativeLogLikelihood({ logprobs, lossMask }, counts);
      });
    const part = await stage('gradient', gradient);
    loss += part.loss;
    tokenCount += microBatch.tokenCount;
    entropySum += part.entropy.reduce((sum, entropy) => sum + entropy, 0);
  }
  return { loss, tokenCount, trainedTokens: counts.tokens, entropySum };
}

/** The order of `count` examples in a pass through their kind. */
type OrderOf = (kind: string, count: number, pass: number) => Int32Array;

/** The examples of an update: pass after pass through the kind, each pass in another order. */
function draw(
  { kind, examples, perUpdate }: Mixture,
  update: number,
  orderOf: OrderOf,
): readonly Trajectory[] {
  const drawn: Trajectory[] = [];
  for (let i = update * perUpdate; i < (update + 1) * perUpdate; i++) {
    const order = orderOf(kind, examples.length, Math.floor(i / examples.length));
    const example = examples[order[i % examples.length] as number];
    if (example !== undefined) drawn.push(example);
  }
  return drawn;
}

/** Remembers the latest order of each kind, since a pass spans many updates. */
function rememberOrders(seed: number): OrderOf {
  const orders = new Map<string, { readonly key: string; readonly order: Int32Array }>();
  return (kind, count, pass) => {
    const key = `${count}/${pass}`;
    const known = orders.get(kind);
    if (known?.key === key) return known.order;
    const indices = Array.from({ length: count }, (_, i) => i);
    const order = Int32Array.from(randomAt(seed, 'shuffle', kind, pass).shuffle(indices));
    orders.set(kind, { key, order });
    return order;
  };
}
