/** The rows of the table on a GPU: shapes of training and sampling, their peers, and what to reach. */
import { attention, attentionDecode } from '@saccade/attention';
import { linearLogprob } from '@saccade/logprob';
import { gemm } from '@saccade/ops';
import { type GroupShape, groupCases } from '../group-packing.ts';
import type { Pass } from '../prepared-case.ts';
import { publishedSizes, type QwenSizes, qwen3b } from '../published-sizes.ts';
import {
  gemmCase,
  logprobCase,
  type Rollouts,
  rolloutsCase,
  sequencesCase,
} from '../rows/cases.ts';
import { LAYER_SHAPE, type LayerShape, layerRows } from '../rows/layers.ts';
import { visionRows, WINDOW_PATCHES } from '../rows/vision.ts';
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
  return {
    title: `attention, causal, B${sequences} S${length} H${H} D${D}`,
    job: {
      op: attention,
      opCase: sequencesCase({ sequences, length }, { H, G: H, D }),
      passes: ['forward', 'backward'],
    },
    peers: [
      { name: 'torch cuDNN', variant: 'cudnn', goals: { forward: 0.8, backward: 0.7 } },
      { name: 'torch flash', variant: 'flash', goals: {} },
    ],
  };
}

function logprobRow({ N, D, V }: { N: number; D: number; V: number }): GpuRow {
  return {
    title: `linear log-prob and entropy, N${N} D${D} V${V}`,
    job: {
      op: linearLogprob,
      opCase: logprobCase({ N, D, V }),
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
    job: { op: gemm, opCase: gemmCase({ M, N, K }), passes: ['forward'] },
    peers: [{ name: 'torch (cuBLAS)', goals: { forward: 0.85 } }],
  };
}

function decodeRow(rollouts: Rollouts, D: number): GpuRow {
  const { prompts, members, prompt, response } = rollouts;
  return {
    title: `decode, ${prompts}×${members} rollouts of length ${prompt + response}`,
    job: {
      op: attentionDecode,
      opCase: rolloutsCase(rollouts, { H: 16, G: 2, D }),
      passes: ['forward'],
    },
    peers: [{ name: 'torch SDPA, own caches', variant: 'own-caches', goals: { forward: 3 } }],
  };
}

/** Peers of the layers' rows by op. Nothing is aimed at yet: no GPU has timed them. */
const LAYER_PEERS: Readonly<Record<string, readonly RowPeer[]>> = {
  attention: [
    { name: 'torch cuDNN', variant: 'cudnn', goals: {} },
    { name: 'torch flash', variant: 'flash', goals: {} },
  ],
  attentionDecode: [{ name: 'torch SDPA, own caches', variant: 'own-caches', goals: {} }],
  gemm: [{ name: 'torch (cuBLAS)', goals: {} }],
  linearLogprob: [{ name: 'torch linear, log-softmax, gather', variant: 'log-softmax', goals: {} }],
};

/** What a GPU is given of a model's layers. */
const GPU_LAYERS: LayerShape = {
  ...LAYER_SHAPE,
  tokens: 8192,
  answerTokens: 4096,
  rollouts: SHAPES.full.decode,
};

const GPU_GROUPS = [1, 4, 16, 32];

/** Layers, head and vision tower of published models, and groups of several sizes. */
export function gpuLayerRows(size: RowSize = 'full'): readonly GpuRow[] {
  const isTiny = size === 'tiny';
  const models = isTiny ? new Map([['3b', TINY_MODEL]]) : publishedSizes;
  const shape = isTiny ? TINY_LAYERS : GPU_LAYERS;
  const tower = isTiny ? visionRows(2 * WINDOW_PATCHES, TINY_MODEL.vision) : visionRows(16_384);
  const rows = [
    ...[...models].flatMap(([name, sizes]) => layerRows(name.toUpperCase(), sizes, shape)),
    ...tower,
  ];
  const { group, heads, D } = SHAPES[size];
  const [[H, G]] = heads;
  return [
    ...rows.map(({ title, job }) => ({ title, job, peers: LAYER_PEERS[job.op.id] ?? [] })),
    ...GPU_GROUPS.map((count) => groupRow({ ...group, group: count, heads: { H, G, D } })).map(
      ({ peers, ...row }) => ({ ...row, peers: peers.map((peer) => ({ ...peer, goals: {} })) }),
    ),
  ];
}

/** For tests. */
const TINY_MODEL: QwenSizes = {
  ...qwen3b,
  vocabulary: 130,
  hidden: 24,
  heads: 2,
  kvHeads: 1,
  intermediate: 40,
  vision: { ...qwen3b.vision, hidden: 32, heads: 2, intermediate: 40 },
};

const TINY_LAYERS: LayerShape = {
  tokens: 9,
  answerTokens: 7,
  lengths: [20],
  conversations: [1, 3],
  cached: 20,
  rollouts: { prompts: 1, members: 2, prompt: 20, response: 6 },
};
