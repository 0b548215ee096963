/** The definition of a broken trajectory. */
import type { Trajectory } from '@saccade/trajectory';

/**
 * Whether the agent's dealings with its environment broke: its code failed and ended the
 * trajectory, or it showed more images than the context takes.
 *
 * PyVision-RL, arXiv:2602.20739, Alg. 1 (timeout, runtime death, execution error) and §3.3 ("exceeding
 * image limits"). Failures of the infrastructure are not meant: those are never scored.
 */
export function isBroken(trajectory: Trajectory): boolean {
  return trajectory.stopReason === 'toolError' || trajectory.stopReason === 'imageLimit';
}
