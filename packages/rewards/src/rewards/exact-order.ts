/** CodeVision's bonus for using exactly the required tools. */
import { type Sourced, sourced, type Variants, valuesOf } from '../provenance.ts';
import type { Reward } from '../reward.ts';
import { cropIous, type Frame, toolRecord } from './core-tools.ts';

export interface ExactOrderOptions {
  /** Whether the order counts, or only which tools were used. */
  readonly isOrdered: boolean;
  /** A crop below this IoU is no correct step. */
  readonly leastIou: number;
  readonly frame: Frame;
}

export const exactOrderVariants: Variants<ExactOrderOptions> = {
  paper: {
    isOrdered: sourced(true, 'paper'),
    leastIou: sourced(0.1, 'note'),
    frame: sourced('canonical', 'reconstructed'),
  },
  code: {
    isOrdered: sourced(false, 'code'),
    leastIou: sourced(0, 'code'),
    frame: sourced('input', 'code'),
  },
};

/**
 * 1 if the core tools used are the required ones, in their order, each once, without a failed call,
 * and the crop hits its box; else 0. Nothing is required: 0.
 *
 * CodeVision, arXiv:2512.03746, §3.3.2 (a), which gives no value; the weight 0.1 is its code's. The
 * public code compares sets.
 */
export function exactOrderWith(constants: Sourced<ExactOrderOptions>): Reward {
  const { isOrdered, leastIou, frame } = valuesOf(constants);
  return {
    name: 'exact-order',
    scope: 'trajectory',
    paper: 'CodeVision, arXiv:2512.03746, §3.3.2',
    range: [0, 1],
    constants: { ...constants },
    with: (changed) => exactOrderWith({ ...constants, ...changed } as Sourced<ExactOrderOptions>),
    score(trajectory, context) {
      const record = toolRecord(trajectory, context);
      const required = record.facts.requiredTools ?? [];
      if (required.length === 0) return 0;
      const used = record.core.map(({ kind }) => kind);
      if (!isOrdered) {
        const distinct = (kinds: readonly string[]): string => [...new Set(kinds)].sort().join();
        return distinct(used) === distinct(required) ? 1 : 0;
      }
      if (record.hasFailedCall || used.join() !== required.join()) return 0;
      const ious = required.includes('crop') ? cropIous(record, frame) : [];
      return ious.every((iou) => iou >= leastIou) ? 1 : 0;
    },
  };
}

export const exactOrder: Reward = exactOrderWith(exactOrderVariants.paper);
