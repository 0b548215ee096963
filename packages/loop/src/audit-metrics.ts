/** The findings of reward audits in a step, as metrics. */

import { messageOf } from '@saccade/core';
import { type Audited, auditRewards } from '@saccade/rewards';
import type { Run } from './run.ts';

/**
 * `audit/<detector>`, the share of trajectories it flags, and for every term of the reward its
 * correlation with the verdict, `rewards/<term>/accuracy_correlation`, where both vary.
 *
 * An audit decides nothing, so one that breaks stops no run: it warns and gives nothing.
 */
export function auditMetrics(
  { parts, onEvent, state }: Run,
  groups: readonly (readonly Audited[])[],
): Record<string, number> {
  try {
    const input = { groups, terms: parts.scoring.terms };
    const { findings, correlations } = auditRewards(input, parts.detectors);
    return Object.fromEntries([
      ...findings.map(({ detector, share }) => [`audit/${detector}`, share] as const),
      ...Object.entries(correlations).map(
        ([term, r]) => [`rewards/${term}/accuracy_correlation`, r] as const,
      ),
    ]);
  } catch (error) {
    const message = `The rewards of step ${state.rlSteps} could not be audited: ${messageOf(error)}`;
    onEvent({ kind: 'warning', message });
    return {};
  }
}
