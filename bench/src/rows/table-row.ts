/** A row of the table: a case under the name people know it by. */
import type { Dims, OpCase } from '@saccade/ops';
import { type Pass, shortCase } from '../prepared-case.ts';
import type { Job, OpResult } from '../run-ops.ts';

export interface TableRow {
  readonly title: string;
  readonly job: Job & { readonly passes: readonly Pass[] };
  /** Bytes that the op avoids materializing, to hold its workspace against. */
  readonly avoidedBytes?: (dims: Dims) => number;
}

/** Of a linear log-prob: the [N, V] logits in float32. */
export const logitBytes = ({ N = 0, V = 0 }: Dims): number => 4 * N * V;

const nameOf = ({ id }: Job['op'], opCase: OpCase): string => `${id} ${shortCase(opCase)}`;

/** The row a result belongs to. */
export function rowOf(result: OpResult, rows: readonly TableRow[]): TableRow | undefined {
  const name = `${result.op} ${result.case}`;
  return rows.find(({ job }) => nameOf(job.op, job.opCase) === name);
}
