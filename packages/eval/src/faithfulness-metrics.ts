/** Faithfulness of tool use as metrics of a step or an evaluation, without asking a judge. */
import { messageOf } from '@saccade/core';
import {
  cropIous,
  faithfulnessMetrics,
  type GradedTrajectory,
  type RewardContext,
  type ScoredGroupResult,
  toolRecord,
} from '@saccade/rewards';
import type { ScoredTrajectory } from '@saccade/trajectory';
import type { EvaluationSettings } from './evaluation-settings.ts';

/**
 * `faithfulness/rate`, `/rate_of_correct`, `/faithful`, `/unfaithful` and `/no_tool` (CodeV,
 * arXiv:2511.19661, §3) over the trajectories that can be graded: by what a judge said of each
 * execution where the run's reward asks one, else by the crops that ran and the task's box. Tasks
 * that say that they need no search are left out, and nothing is logged where none can be graded.
 *
 * Metrics decide nothing, so what goes wrong is a warning and no error.
 *
 * @param onWarning receives the reason if there are none
 */
export function faithfulnessOf(
  results: readonly ScoredGroupResult[],
  { cropIou }: Pick<EvaluationSettings, 'cropIou'>,
  onWarning: (message: string) => void,
): Readonly<Record<string, number>> {
  try {
    return faithfulnessMetrics(
      results.flatMap(({ scored, contexts }) =>
        scored.trajectories.flatMap((trajectory, i) => graded(trajectory, contexts[i], cropIou)),
      ),
    );
  } catch (error) {
    onWarning(`The faithfulness of tool use could not be measured: ${messageOf(error)}`);
    return {};
  }
}

function graded(
  trajectory: ScoredTrajectory,
  context: RewardContext | undefined,
  cropIou: number,
): readonly GradedTrajectory[] {
  if (context === undefined) return [];
  if (context.stepScores !== undefined) return [{ trajectory, grades: context.stepScores }];
  const record = toolRecord(trajectory, context);
  const { box, needsSearch = true } = record.facts;
  if (box === undefined || !needsSearch) return [];
  const ious = cropIous(record.facts, record.core, 'canonical');
  return [{ trajectory, grades: ious.map((iou) => (iou >= cropIou ? 1 : 0)) }];
}
