/** The kernels that are measured, at two sizes. */
import { attention, attentionDecode } from '@saccade/attention';
import { linearLogprob } from '@saccade/logprob';
import { type Direction, gemm, type Op, type OpCase } from '@saccade/ops';

export interface BenchCase {
  /** The kernel's role in a policy. */
  readonly title: string;
  readonly op: Op;
  readonly opCase: OpCase;
  readonly directions: readonly Direction[];
}

export type BenchSize = 'large' | 'small';

const BOTH: readonly Direction[] = ['forward', 'backward'];
const FORWARD: readonly Direction[] = ['forward'];

export const benchCases: Readonly<Record<BenchSize, readonly BenchCase[]>> = {
  large: [
    {
      title: 'gemm',
      op: gemm,
      opCase: { dims: { M: 2048, K: 1024, N: 1024 }, without: ['b'] },
      directions: BOTH,
    },
    {
      title: 'gemm, few rows',
      op: gemm,
      opCase: { dims: { M: 16, K: 1024, N: 1024 }, without: ['b'] },
      directions: FORWARD,
    },
    {
      title: 'attention',
      op: attention,
      opCase: { dims: { T: 1024, H: 8, G: 8, D: 64, S: 1, P: 3 }, gradOf: ['out'] },
      directions: BOTH,
    },
    {
      title: 'attention, grouped queries, tree',
      op: attention,
      opCase: { dims: { T: 2048, H: 4, G: 2, D: 32, S: 9, P: 3 }, gradOf: ['out'] },
      directions: BOTH,
    },
    {
      title: 'attention over a cache',
      op: attentionDecode,
      opCase: { dims: { N: 64, H: 4, G: 2, D: 32, C: 16_384, R: 128, U2: 2, O: 65 } },
      directions: FORWARD,
    },
    {
      title: 'log-probs of a vocabulary',
      op: linearLogprob,
      opCase: { dims: { N: 1024, D: 256, V: 16_384 } },
      directions: BOTH,
    },
  ],
  small: [
    {
      title: 'gemm',
      op: gemm,
      opCase: { dims: { M: 128, K: 64, N: 64 }, without: ['b'] },
      directions: BOTH,
    },
    {
      title: 'attention',
      op: attention,
      opCase: { dims: { T: 96, H: 2, G: 1, D: 16, S: 3, P: 3 }, gradOf: ['out'] },
      directions: BOTH,
    },
    {
      title: 'attention over a cache',
      op: attentionDecode,
      opCase: { dims: { N: 8, H: 2, G: 1, D: 16, C: 256, R: 16, U2: 2, O: 9 } },
      directions: FORWARD,
    },
    {
      title: 'log-probs of a vocabulary',
      op: linearLogprob,
      opCase: { dims: { N: 64, D: 32, V: 512 } },
      directions: BOTH,
    },
  ],
};

/** Axes whose length is fixed or follows from the others. */
const BOOKKEEPING = new Set(['P', 'R', 'S', 'U2', 'O']);

/** `M 128, K 64, N 64` */
export function shapesOf({ opCase }: BenchCase): string {
  return Object.entries(opCase.dims)
    .filter(([axis]) => !BOOKKEEPING.has(axis))
    .map(([axis, length]) => `${axis} ${length}`)
    .join(', ');
}
