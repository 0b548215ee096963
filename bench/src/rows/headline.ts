/** The headline rows: the few shapes that decide whether training and sampling are fast. */
import { ConfigError } from '@saccade/core';
import { allOps } from '../catalog-ops.ts';
import type { GroupShape } from '../group-packing.ts';
import { type Pass, shortCase } from '../prepared-case.ts';
import { logitBytes, type TableRow } from './table-row.ts';

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
export function headlineRows(): readonly TableRow[] {
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
    return id === 'linearLogprob' ? { title, job, avoidedBytes: logitBytes } : { title, job };
  });
}

export const HEADLINE_GROUP: GroupShape = {
  prefix: 512,
  response: 128,
  group: 4,
  heads: { H: 8, G: 8, D: 128 },
};
