/** What an evaluation may cost, before it begins. */
import type { OpenSuite } from './open-suite.ts';

/** The cost of a suite, at most. */
export interface SuiteEstimate {
  readonly suite: string;
  /** Samples that are there already. */
  readonly kept: number;
  readonly toDraw: number;
  /** Requests to the model at most: one per turn. */
  readonly requests: number;
  /** Tokens that the model writes, at most. */
  readonly writtenTokens: number;
  /** Tokens that it reads, at most: the context of every request. */
  readonly readTokens: number;
}

/** Upper bounds: every sample takes all turns and writes as much as it may. */
export function estimateSuite(
  { name, k, taskCount, sampling, mostTurns }: OpenSuite,
  kept: number,
): SuiteEstimate {
  const toDraw = Math.max(0, k * taskCount - kept);
  const { maxTurnTokens, maxContextTokens } = sampling;
  // A context that is full ends a trajectory, so turns are bounded by it too.
  const written = Math.min(mostTurns * maxTurnTokens, maxContextTokens);
  return {
    suite: name,
    kept,
    toDraw,
    requests: toDraw * mostTurns,
    writtenTokens: toDraw * written,
    readTokens: toDraw * mostTurns * maxContextTokens,
  };
}

/** Price of a model behind an API, in a currency of your choice. */
export interface Prices {
  readonly perMillionRead: number;
  readonly perMillionWritten: number;
}

/** The price of estimates, at most. */
export function priceOf(
  estimates: readonly SuiteEstimate[],
  { perMillionRead, perMillionWritten }: Prices,
): number {
  return estimates.reduce(
    (sum, { readTokens, writtenTokens }) =>
      sum + (readTokens * perMillionRead + writtenTokens * perMillionWritten) / 1e6,
    0,
  );
}
