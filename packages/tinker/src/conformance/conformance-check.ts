/** One check of a server: what has to hold, and within which bound. */
import { SaccadeError } from '@saccade/core';
import type { LocalPolicy, TrainedPolicy } from '@saccade/policy';
import type { LoraRequest, ModelRequest, TinkerClient } from '../client/tinker-client.ts';
import type { TinkerModel } from '../client/tinker-model.ts';
import type { Channel } from '../measure/probe.ts';
import { TinkerError } from '../wire/tinker-error.ts';

/** What a check works with. */
export interface ConformanceContext {
  readonly client: TinkerClient;
  readonly request: ModelRequest;
  readonly processor: TrainedPolicy['processor'];
  readonly vocabulary: number;
  /** The channel that carries gradients: the extension's, or cross-entropy. */
  readonly channel: Channel;
  readonly bounds: ConformanceBounds;
  /** The same weights on local kernels; absent where they are not at hand. */
  readonly local?: () => Promise<LocalPolicy>;
  /** Runs something with a new model, which is unloaded after it. */
  withModel<Result>(
    use: (model: TinkerModel) => Promise<Result>,
    lora?: LoraRequest,
  ): Promise<Result>;
}

/** Bounds of what may differ. */
export interface ConformanceBounds {
  /** Relative, of gradients that are to be equal or to cancel. */
  readonly gradient: number;
  /** Nats, of log-probs of one server computed in two ways. */
  readonly logprob: number;
  /** Nats and relative, between a server and local kernels. */
  readonly kernels: number;
  /** Nats, between sampling and scoring. */
  readonly sampling: number;
}

/** Bounds for weights and sums in 32 bits. */
export const float32Bounds: ConformanceBounds = {
  gradient: 1e-5,
  logprob: 1e-5,
  kernels: 1e-4,
  sampling: 1e-3,
};

/** What a check needs of a server; where it is missing the check is skipped, and says so. */
export type Requirement = 'extension' | 'images' | 'gradients' | 'local' | 'sampling';

/** One check: what has to hold, and how it is looked at. */
export interface ConformanceCheck {
  /** Its number in the list of what a learner must keep. */
  readonly number: number;
  /** What has to hold, as a sentence. */
  readonly name: string;
  readonly needs?: readonly Requirement[];
  /**
   * Gives what was measured, in words.
   *
   * @throws ConformanceError if it does not hold
   */
  run(context: ConformanceContext): Promise<string>;
}

/** Something that has to hold does not. */
export class ConformanceError extends SaccadeError {
  constructor(message: string) {
    super('conformance', message);
  }
}

/** @throws ConformanceError unless a value is at most a bound; gives both in words */
export function expectAtMost(what: string, value: number, bound: number): string {
  const said = `${what} ${value.toPrecision(3)}, at most ${bound}`;
  if (value <= bound) return said;
  throw new ConformanceError(`${said} expected.`);
}

/** @throws ConformanceError unless it holds */
export function expectThat(what: string, holds: boolean): void {
  if (!holds) throw new ConformanceError(`${what} was expected.`);
}

/** The largest difference of two arrays. */
export function largestDifference(one: ArrayLike<number>, other: ArrayLike<number>): number {
  if (one.length !== other.length) return Number.POSITIVE_INFINITY;
  let most = 0;
  for (let i = 0; i < one.length; i++) {
    const difference = Math.abs((one[i] as number) - (other[i] as number));
    if (!(difference <= most)) most = difference;
  }
  return most;
}

/** @throws ConformanceError if the server takes it; its error where that is no refusal */
export async function expectRefused(what: string, run: () => Promise<unknown>): Promise<void> {
  try {
    await run();
  } catch (error) {
    if (error instanceof TinkerError && error.category === 'user') return;
    throw error;
  }
  throw new ConformanceError(`The server took ${what}, and had to refuse it.`);
}
