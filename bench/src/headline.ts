/** The headline table: the few shapes that decide whether training and sampling are fast. */
import { ConfigError } from '@saccade/core';
import type { Dims } from '@saccade/ops';
import { allOps } from './catalog-ops.ts';
import type { GroupShape } from './group-packing.ts';
import { type Pass, shortCase } from './prepared-case.ts';
import type { Job, OpResult } from './run-ops.ts';

/** A row of the table: a bench case under the name people know it by. */
export interface Headline {
  readonly title: string;
  readonly job: Job & { readonly passes: readonly Pass[] };
  /** Bytes that the op avoids materializing, to hold its workspace against. */
  readonly avoidedBytes?: (dims: Dims) => number;
}

const SHAPES: readonly (readonly [
  title: string,
  op: string,
  shape: string,
  passes: readonly Pass[],
])[] = [
  [
    'attention, causal, B1 H8 S1024 D128',
    'attention',
    'T1024 H8 G8 D128 S1',
    ['forward', 'backward'],
  ],
  ['attention, causal, B1 H16 S1024 D64', 'attention', 'T1024 H16 G16 D64 S1', ['backward']],
  [
    'linear log-prob, N128 D2048 V151936',
    'linearLogprob',
    'N128 D2048 V151936',
    ['forward', 'both'],
  ],
  [
    'GQA decode, B8 H16 Hkv2 S3000 D128',
    'attentionDecode',
    'N8 H16 G2 D128 C24000 R8',
    ['forward'],
  ],
  ['GEMM 2048³', 'gemm', 'M2048 K2048 N2048 no b', ['forward']],
];

/** The rows, each found among the bench cases of its op. */
export function headlines(): readonly Headline[] {
  return SHAPES.map(([title, id, shape, passes]) => {
    const op = allOps.find((candidate) => candidate.id === id);
    const opCase = op?.benchCases?.find((candidate) => shortCase(candidate) === shape);
    if (op === undefined || opCase === undefined) {
      throw new ConfigError(
        title,
        `No bench case of ${id} is "${shape}". Add it to the op's file.`,
      );
    }
    const job = { op, opCase, passes };
    if (id !== 'linearLogprob') return { title, job };
    return { title, job, avoidedBytes: ({ N = 0, V = 0 }) => 4 * N * V };
  });
}

/** The last row: a group with its prompt packed once, beside the repeated prompt. */
export const GROUP_TITLE = 'shared prefix, P512 R128 G4 H8 D128';

export const HEADLINE_GROUP: GroupShape = {
  prefix: 512,
  response: 128,
  group: 4,
  heads: { H: 8, G: 8, D: 128 },
};

/** The row a result belongs to. */
export function headlineOf(result: OpResult, rows: readonly Headline[]): Headline | undefined {
  return rows.find(({ job }) => job.op.id === result.op && shortCase(job.opCase) === result.case);
}
