/** Draws the next token of some rows of a pass: those that are sampled in the same way, together. */
import { span } from '@saccade/core';
import {
  gatherRows,
  linearSample,
  linearSampleTruncated,
  scope,
  type Tensor,
  tensor,
} from '@saccade/tensor';
import type { SampleRequest } from '../policy.ts';
import { fullTruncation, isTruncated, type Truncation } from '../truncation.ts';

/** How a row is sampled. */
export interface RowSampling extends Required<Truncation> {
  readonly temperature: number;
}

/** What came of one row. */
export interface Draw {
  readonly token: number;
  /** Nats, of the distribution that was sampled from. */
  readonly logprob: number;
  /** The probability of the tokens that could be drawn; undefined where nothing was left out. */
  readonly keptMass: number | undefined;
}

/** The way a request is sampled; the most likely token needs no filters. */
export function rowSampling(request: SampleRequest): RowSampling {
  const { temperature } = request;
  return { temperature, ...fullTruncation(temperature === 0 ? {} : request) };
}

/** Jobs that are sampled in the same way, together; in order of the first of each. */
export function bySampling<One extends { readonly job: { readonly sampling: RowSampling } }>(
  all: readonly One[],
): readonly (readonly One[])[] {
  const ways = new Map<string, One[]>();
  for (const one of all) {
    const { temperature, topK, topP, minP } = one.job.sampling;
    const way = `${temperature} ${topK} ${topP} ${minP}`;
    const alike = ways.get(way);
    if (alike === undefined) ways.set(way, [one]);
    else alike.push(one);
  }
  return [...ways.values()];
}

/**
 * A token for each chosen row of hidden [N, D], with an LM head [V, D].
 *
 * @param rows [R] indices of rows of `hidden`
 * @param keys [R, 4] addresses of their random numbers
 */
export async function sampleRows(
  hidden: Tensor,
  head: Tensor,
  rows: Int32Array,
  keys: Int32Array,
  sampling: RowSampling,
): Promise<readonly Draw[]> {
  const { device } = hidden;
  const { temperature } = sampling;
  const count = rows.length;
  const draw = (): { tokens: Tensor; logprobs: Tensor; keptMass?: Tensor } => {
    const chosen = gatherRows(hidden, tensor(device, 'i32', [count], rows));
    const addresses = tensor(device, 'i32', [count, 4], keys);
    return isTruncated(sampling)
      ? linearSampleTruncated(chosen, head, addresses, sampling)
      : linearSample(chosen, head, addresses, temperature);
  };
  const drawn = span('sampling/draw', () => scope(draw));
  const [tokens, logprobs, masses] = await Promise.all([
    drawn.tokens.read(),
    drawn.logprobs.read(),
    drawn.keptMass?.read(),
  ]);
  for (const one of Object.values(drawn)) one.dispose();
  return Array.from({ length: count }, (_, row) => ({
    token: tokens[row] as number,
    logprob: logprobs[row] as number,
    keptMass: masses?.[row],
  }));
}
