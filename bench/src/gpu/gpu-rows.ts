/** The rows of the table on a GPU: shapes of training and sampling, their peers, and what to reach. */
import { attention, attentionDecode } from '@saccade/attention';
import { linearLogprob } from '@saccade/logprob';
import { gemm, type OpCase } from '@saccade/ops';
import { type GroupShape, groupCases } from '../group-packing.ts';
import type { Pass } from '../prepared-case.ts';
import type { Job } from '../run-ops.ts';

/** A peer of a row: a variant of `bench/peers/torch_variants.py`. */
export interface RowPeer {
  readonly name: string;
  /** Absent: what `bench/peers/torch_ops.py` writes by itself. */
  readonly variant?: string;
  /** Compiled as it runs, which may fail or hang: in a process of its own, not to take others along. */
  readonly isCompiled?: true;
  /** Peer's time / ours that is aimed at, by pass. */
  readonly goals: Readonly<Partial<Record<Pass, number>>>;
}

export interface GpuRow {
  readonly title: string;
  readonly job: Job & { readonly passes: readonly Pass[] };
  readonly peers: readonly RowPeer[];
}

/**
 * `full`: what is timed. `medium`: several tiles and blocks everywhere, and little to draw and copy.
 * `tiny`: what an emulated device does in seconds, for tests.
 */
export type RowSize = keyof typeof SHAPES;

const SHAPES = {
  full: {
    group: { prefix: 2500, response: 500, group: 8 },
    heads: [
      [16, 2],
      [28, 4],
    ],
    D: 128,
    causal: { sequences: 4, length: 4096, H: 16 },
    logprob: { N: 4000, D: 2048, V: 151_936 },
    gemms: [
      { M: 6500, N: 11_008, K: 2048 },
      { M: 256, N: 11_008, K: 2048 },
      { M: 16, N: 11_008, K: 2048 },
    ],
    decode: { prompts: 64, members: 8, prompt: 2500, response: 500 },
  },
  medium: {
    group: { prefix: 700, response: 150, group: 4 },
    heads: [
      [16, 2],
      [28, 4],
    ],
    D: 128,
    causal: { sequences: 2, length: 1024, H: 8 },
    logprob: { N: 600, D: 1024, V: 32_000 },
    gemms: [{ M: 1000, N: 1408, K: 2048 }],
    decode: { prompts: 8, members: 8, prompt: 700, response: 100 },
  },
  tiny: {
    group: { prefix: 20, response: 6, group: 3 },
    heads: [
      [2, 1],
      [2, 2],
    ],
    D: 16,
    causal: { sequences: 2, length: 20, H: 2 },
    logprob: { N: 7, D: 16, V: 130 },
    gemms: [{ M: 9, N: 40, K: 24 }],
    decode: { prompts: 2, members: 3, prompt: 20, response: 6 },
  },
} as const;

export const ROW_SIZES = Object.keys(SHAPES) as readonly RowSize[];

/** All rows, the ones that matter most first. */
export function gpuRows(size: RowSize = 'full'): readonly GpuRow[] {
  const { group, heads, D, causal, logprob, gemms, decode } = SHAPES[size];
  const groupOf = ([H, G]: readonly [number, number]): GroupShape => ({
    ...group,
    heads: { H, G, D },
  });
  return [
    groupRow(groupOf(heads[0])),
    logprobRow(logprob),
    groupRow(groupOf(heads[1])),
    causalRow(causal, D),
    ...gemms.map(gemmRow),
    decodeRow(decode, D),
  ];
}

/** A GRPO group with its prompt packed once; SDPA gets the prompt with every response. */
function groupRow(shape: GroupShape): GpuRow {
  const { prefix, response, group, heads } = shape;
  const { H, G, D } = heads;
  return {
    title: `GRPO attention, P${prefix} R${response} G${group}, ${H} heads to ${G}, D${D}`,
    job: { op: attention, opCase: groupCases(shape).shared, passes: ['both'] },
    peers: [
      { name: 'torch cuDNN, prompt repeated', variant: 'cudnn', goals: { both: 2 } },
      { name: 'torch flash, prompt repeated', variant: 'flash', goals: { both: 2 } },
      {
        name: 'FlexAttention, prefix mask',
        variant: 'flex',
        isCompiled: true,
        goals: { both: 1.2 },
      },
    ],
  };
}

function causalRow(
  { sequences, length, H }: { sequences: number; length: number; H: number },
  D: number,
): GpuRow {
  const ends = Array.from({ length: sequences }, (_, s) => s * length);
  const opCase: OpCase = {
    dims: { T: sequences * length, H, G: H, D, S: sequences, P: 3 },
    indices: { segments: Int32Array.from(ends.flatMap((start) => [start, start + length, -1])) },
    gradOf: ['out'],
  };
  return {
    title: `attention, causal, B${sequences} S${length} H${H} D${D}`,
    job: { op: attention, opCase, passes: ['forward', 'backward'] },
    peers: [
      { name: 'torch cuDNN', variant: 'cudnn', goals: { forward: 0.8, backward: 0.7 } },
      { name: 'torch flash', variant: 'flash', goals: {} },
    ],
  };
}

function logprobRow({ N, D, V }: { N: number; D: number; V: number }): GpuRow {
  const targets = Int32Array.from({ length: N }, (_, n) => (n * 7919) % V);
  return {
    title: `linear log-prob and entropy, N${N} D${D} V${V}`,
    job: {
      op: linearLogprob,
      opCase: { dims: { N, D, V }, indices: { targets } },
      passes: ['forward', 'both'],
    },
    peers: [
      {
        name: 'torch linear, log-softmax, gather',
        variant: 'log-softmax',
        goals: { forward: 3, both: 3 },
      },
      {
        name: 'Liger fused linear CE (no entropy)',
        variant: 'liger',
        isCompiled: true,
        goals: { forward: 1.5, both: 1.5 },
      },
    ],
  };
}

function gemmRow({ M, N, K }: { M: number; N: number; K: number }): GpuRow {
  return {
    title: `GEMM ${M}×${N}×${K}`,
    job: { op: gemm, opCase: { dims: { M, N, K }, without: ['b'] }, passes: ['forward'] },
    peers: [{ name: 'torch (cuBLAS)', goals: { forward: 0.85 } }],
  };
}

interface Rollouts {
  readonly prompts: number;
  /** Rollouts of each prompt. */
  readonly members: number;
  /** Tokens of a prompt, and of each rollout behind it. */
  readonly prompt: number;
  readonly response: number;
}

/** Rollouts of many prompts at once: a prompt's keys are stored once, and each row names them. */
function decodeRow({ prompts, members, prompt, response }: Rollouts, D: number): GpuRow {
  const rows = prompts * members;
  const slots = prompt + members * response;
  const spans = Int32Array.from({ length: 4 * rows }, (_, i) => {
    const row = i >> 2;
    const first = Math.floor(row / members) * slots;
    const own = first + prompt + (row % members) * response;
    return [first, first + prompt, own, own + response][i & 3] ?? 0;
  });
  const dims = { N: rows, H: 16, G: 2, D, C: prompts * slots, R: 2 * rows, U2: 2, O: rows + 1 };
  const spanOffsets = Int32Array.from({ length: rows + 1 }, (_, n) => 2 * n);
  return {
    title: `decode, ${prompts}×${members} rollouts of length ${prompt + response}`,
    job: {
      op: attentionDecode,
      opCase: { dims, indices: { spans, spanOffsets } },
      passes: ['forward'],
    },
    peers: [{ name: 'torch SDPA, own caches', variant: 'own-caches', goals: { forward: 3 } }],
  };
}
