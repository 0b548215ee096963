/** Cases of training and sampling by the sizes people think of: sequences, windows, caches, rollouts. */
import type { Dims, OpCase } from '@saccade/ops';

/** Query heads H, key heads G, and the length D of each. */
export interface Heads {
  readonly H: number;
  readonly G: number;
  readonly D: number;
}

/** Attention in sequences of one length, packed one behind the other. */
export function sequencesCase(
  { sequences, length }: { readonly sequences: number; readonly length: number },
  heads: Heads,
  mask: 'causal' | 'whole' = 'causal',
): OpCase {
  const starts = Array.from({ length: sequences }, (_, s) => s * length);
  return {
    dims: { T: sequences * length, ...heads, S: sequences, P: 3 },
    indices: { segments: Int32Array.from(starts.flatMap((start) => [start, start + length, -1])) },
    gradOf: ['out'],
    ...(mask === 'whole' && { scalars: { causal: 0 } }),
  };
}

/** Log-probs of N tokens, with gradients of these alone or of the entropies too. */
export function logprobCase(
  { N, D, V }: { readonly N: number; readonly D: number; readonly V: number },
  gradOf?: OpCase['gradOf'],
): OpCase {
  const targets = Int32Array.from({ length: N }, (_, n) => (n * 7919) % V);
  return { dims: { N, D, V }, indices: { targets }, ...(gradOf && { gradOf }) };
}

/** y = x·wᵀ without a bias. */
export const gemmCase = ({ M, N, K }: { M: number; N: number; K: number }): OpCase => ({
  dims: { M, N, K },
  without: ['b'],
});

/** One new token of each conversation, over a cache of its own. */
export function conversationsCase(
  { conversations, length }: { readonly conversations: number; readonly length: number },
  heads: Heads,
): OpCase {
  const N = conversations;
  const dims: Dims = { N, ...heads, C: N * length, R: N, U2: 2, O: N + 1 };
  const spans = Array.from({ length: N }, (_, n) => [n * length, (n + 1) * length]);
  return {
    dims,
    indices: {
      spans: Int32Array.from(spans.flat()),
      spanOffsets: Int32Array.from({ length: N + 1 }, (_, n) => n),
    },
  };
}

export interface Rollouts {
  readonly prompts: number;
  /** Rollouts of each prompt. */
  readonly members: number;
  /** Tokens of a prompt, and of each rollout behind it. */
  readonly prompt: number;
  readonly response: number;
}

/** Rollouts of many prompts at once: a prompt's keys are stored once, and each row names them. */
export function rolloutsCase(
  { prompts, members, prompt, response }: Rollouts,
  heads: Heads,
): OpCase {
  const rows = prompts * members;
  const slots = prompt + members * response;
  const spans = Int32Array.from({ length: 4 * rows }, (_, i) => {
    const row = i >> 2;
    const first = Math.floor(row / members) * slots;
    const own = first + prompt + (row % members) * response;
    return [first, first + prompt, own, own + response][i & 3] ?? 0;
  });
  const dims = { N: rows, ...heads, C: prompts * slots, R: 2 * rows, U2: 2, O: rows + 1 };
  const spanOffsets = Int32Array.from({ length: rows + 1 }, (_, n) => 2 * n);
  return { dims, indices: { spans, spanOffsets } };
}
