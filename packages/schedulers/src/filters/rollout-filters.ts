/** Drops single trajectories, with the reason. */
import type { StopReason, Trajectory } from '@saccade/trajectory';
import type { DropReason } from '../scheduler.ts';

/** Ends that PyVision-RL's code trains on: an answer, the turn limit, failed code. */
const GOOD_ENDS: readonly StopReason[] = ['answered', 'turnLimit', 'toolError'];

/**
 * Why PyVision-RL's code leaves a rollout out; undefined to keep it.
 *
 * Its filters `hasimage`, `trajlength` and `end_reason`, in this order. The one between them, that
 * placeholders equal visual features, cannot fail here: the ledger refuses such a segment.
 */
export function rolloutReason(trajectory: Trajectory, maxTokens: number): DropReason | undefined {
  const { segments, stopReason } = trajectory;
  const hasLooked = segments.some(
    ({ kind, images }) => kind === 'observation' && images.length > 0,
  );
  if (!hasLooked) return 'noImage';
  const tokenCount = segments.reduce((sum, { tokens }) => sum + tokens.length, 0);
  if (tokenCount > maxTokens) return 'tooLong';
  return GOOD_ENDS.includes(stopReason) ? undefined : 'badEnd';
}
