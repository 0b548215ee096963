/** CodeVision's bonus for using exactly the required tools. */
import { flag } from '@saccade/core/settings';
import { z } from 'zod';
import { defineReward } from '../define-reward.ts';
import { cropIous, frameSetting, leastIouSetting, toolRecord } from './core-tools.ts';

const settings = z.strictObject({
  isOrdered: flag({ default: true, about: 'Whether the order counts, or only the set of tools.' }),
  leastIou: leastIouSetting(0.1, 'A crop below this IoU is no correct step.'),
  frame: frameSetting,
});

/**
 * 1 if the core tools used are the required ones, in their order, each once, without a failed call,
 * and the crop hits its box; else 0. Also 0 if nothing is required, and if any other core tool may
 * have been used.
 *
 * CodeVision, arXiv:2512.03746, §3.3.2 (a), which gives no value; the weight 0.1 is its code's. The
 * public code compares sets.
 */
export const exactOrder = defineReward({
  name: 'exact-order',
  scope: 'trajectory',
  description: '1 if exactly the required tools were used, in their order.',
  paper: 'CodeVision, arXiv:2512.03746, §3.3.2',
  settings,
  origins: { isOrdered: 'paper', leastIou: 'note', frame: 'reconstructed' },
  range: [0, 1],
  score(trajectory, context, { isOrdered, leastIou, frame }) {
    const record = toolRecord(trajectory, context);
    const required = record.facts.requiredTools ?? [];
    if (required.length === 0) return 0;
    const used = record.core.map(({ kind }) => kind);
    const allowed = new Set<string>(required);
    if (record.mayHaveUsedOthers || [...record.attempted].some((kind) => !allowed.has(kind)))
      return 0;
    if (!isOrdered) {
      const distinct = (kinds: readonly string[]): string => [...new Set(kinds)].sort().join();
      return distinct(used) === distinct(required) ? 1 : 0;
    }
    if (record.hasFailedCall || record.possible.length > record.core.length) return 0;
    if (used.join() !== required.join()) return 0;
    const ious = required.includes('crop') ? cropIous(record.facts, record.core, frame) : [];
    return ious.every((iou) => iou >= leastIou) ? 1 : 0;
  },
});
