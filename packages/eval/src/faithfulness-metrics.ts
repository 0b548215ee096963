/** Faithfulness of tool use as metrics of a step or an evaluation, without asking a judge. */
import { messageOf } from '@saccade/core';
import {
  type EvidencePair,
  faithfulnessMetrics,
  type GradedTrajectory,
  judgeAgreement,
  type RewardContext,
  type ScoredGroupResult,
  stepOverlaps,
  taskFacts,
} from '@saccade/rewards';
import type { ScoredTrajectory } from '@saccade/trajectory';
import type { EvaluationSettings } from './evaluation-settings.ts';

/**
 * `faithfulness/rate`, `/rate_of_correct`, `/faithful`, `/unfaithful`, `/no_tool` and `/calls/…`
 * (CodeV, arXiv:2511.19661, §3, Fig. 8) over the trajectories that can be graded: by what a judge said
 * of each execution where the run's reward asks one, else by the crops that ran and the task's box.
 * Tasks that say that they need no search are left out, and nothing is logged where none can be graded.
 *
 * Where a judge said something and the box is known too, `faithfulness/judge_kappa` is their agreement
 * over executions.
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
    const graded = results.flatMap(({ scored, contexts }) =>
      scored.trajectories.flatMap((trajectory, i) =>
        gradeEvidence(trajectory, contexts[i], cropIou),
      ),
    );
    const agreement = judgeAgreement(graded.flatMap(({ pairs }) => pairs));
    return {
      ...faithfulnessMetrics(graded),
      ...(agreement?.kappa !== undefined && { 'faithfulness/judge_kappa': agreement.kappa }),
    };
  } catch (error) {
    onWarning(`The faithfulness of tool use could not be measured: ${messageOf(error)}`);
    return {};
  }
}

interface Graded extends GradedTrajectory {
  /** Executions that a judge and the box decide. */
  readonly pairs: readonly EvidencePair[];
}

function gradeEvidence(
  trajectory: ScoredTrajectory,
  context: RewardContext | undefined,
  cropIou: number,
): readonly Graded[] {
  if (context === undefined || taskFacts(context).needsSearch === false) return [];
  const { stepScores } = context;
  const grades = stepOverlaps(trajectory, context)?.map(({ iou }) => (iou >= cropIou ? 1 : 0));
  if (stepScores === undefined)
    return grades === undefined ? [] : [{ trajectory, grades, pairs: [] }];
  const pairs = grades?.flatMap((grade, step): readonly EvidencePair[] => {
    const score = stepScores[step];
    return score === undefined ? [] : [{ judge: score >= 1, box: grade === 1 }];
  });
  return [{ trajectory, grades: stepScores, pairs: pairs ?? [] }];
}
