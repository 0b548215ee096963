/** All ops of all packages, and which of them a run is about. */
import { attentionCatalog } from '@saccade/attention';
import type { DType } from '@saccade/core';
import { logprobCatalog } from '@saccade/logprob';
import { type Op, opsCatalog } from '@saccade/ops';

export const allOps: readonly Op[] = [...opsCatalog, ...attentionCatalog, ...logprobCatalog];

/** Storage types worth timing that an op's float operands may have; float64 is for references. */
export function storageTypes(op: Op): readonly DType[] {
  const dtypes = Object.values(op.inputs).flatMap((operand) => operand.dtypes);
  const known: readonly DType[] = ['f32', 'bf16', 'f16'];
  return known.filter((dtype) => dtypes.includes(dtype));
}
