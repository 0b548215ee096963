import { randomAt } from '@saccade/core';
import type { Op, OpCase } from './op.ts';

/** `count` random cases; an op without a generator of its own gives its fixed cases again. */
export function fuzzCases(op: Op, count: number, seed: number): readonly OpCase[] {
  const random = randomAt(seed, 'fuzz', op.id);
  return Array.from({ length: count }, () => op.fuzz?.(random) ?? random.pick(op.cases));
}
