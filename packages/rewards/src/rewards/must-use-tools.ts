/** CodeVision's reward for the tools a task cannot be solved without. */
import { z } from 'zod';
import { defineReward } from '../define-reward.ts';
import { frameSetting, mandatoryShare, toolRecord } from './core-tools.ts';

const settings = z.strictObject({ frame: frameSetting });

/**
 * A budget of 1/N for each of the N required tools: once for a turn or flip, and by the gain in IoU
 * over the best so far for a crop.
 *
 *   r_mand = Σ_{turns, flips} 1/N·1{used} + (1/N)·Σ_t max(0, IoU_t − best IoU before t)
 *
 * CodeVision, arXiv:2512.03746, §3.3.2 (a). Boxes are compared in the canonical frame, as a crop
 * after a turn has coordinates of its own; the public code compares them as written. Only operations
 * that certainly took place in an execution without error count.
 */
export const mustUseTools = defineReward({
  name: 'must-use-tools',
  scope: 'trajectory',
  description: 'The share of the required tools that were used; a crop counts by its IoU.',
  paper: 'CodeVision, arXiv:2512.03746, §3.3.2',
  settings,
  origins: { frame: 'reconstructed' },
  range: [0, 1],
  score: (trajectory, context, { frame }) => mandatoryShare(toolRecord(trajectory, context), frame),
});
