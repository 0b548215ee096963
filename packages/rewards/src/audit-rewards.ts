/** All detectors over the scored trajectories of a step or a run. */
import type { Audited, AuditInput, Detector, Finding } from './audit.ts';
import { allAudited } from './audit.ts';
import { detectors } from './registry.ts';
import type { ScoredGroupResult } from './score.ts';
import { batchCorrelations } from './term-correlations.ts';

/** The result of `auditRewards`. */
export interface AuditReport {
  readonly trajectoryCount: number;
  readonly groupCount: number;
  /** One per detector, by name. */
  readonly findings: readonly Finding[];
  /**
   * Point-biserial correlation of every term with the verdict over all trajectories, by the term's
   * name; absent where one of them does not vary.
   */
  readonly correlations: Readonly<Record<string, number>>;
}

/**
 * The findings of every detector.
 *
 * @param chosen default: all registered, with their own thresholds
 */
export function auditRewards(
  input: AuditInput,
  chosen: readonly Detector[] = detectors.entries().map(([, detector]) => detector),
): AuditReport {
  return {
    trajectoryCount: allAudited(input).length,
    groupCount: input.groups.length,
    findings: chosen.map((detector) => detector.examine(input)),
    correlations: batchCorrelations(input),
  };
}

/** A scored group as audits take it, with what its scoring has found out. */
export function auditedGroup({
  scored,
  contexts,
}: Pick<ScoredGroupResult, 'scored' | 'contexts'>): readonly Audited[] {
  return scored.trajectories.flatMap((trajectory, index): readonly Audited[] => {
    const context = contexts[index];
    return context === undefined ? [] : [{ trajectory, context }];
  });
}
