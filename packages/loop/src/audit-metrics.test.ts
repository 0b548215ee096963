import type { RunEvent } from '@saccade/core';
import { type Audited, detectors, detectorsWith, presetTerms } from '@saccade/rewards';
import type { ScoredTrajectory } from '@saccade/trajectory';
import { describe, expect, it } from 'vitest';
import { auditMetrics } from './audit-metrics.ts';
import type { Run } from './run.ts';

const events: RunEvent[] = [];
const run = {
  parts: { scoring: { terms: presetTerms('pyvision') }, detectors: detectorsWith({}) },
  state: { rlSteps: 4 },
  onEvent: (event: RunEvent) => events.push(event),
} as unknown as Run;

function audited(reward: number, metadata: Readonly<Record<string, unknown>> = {}): Audited {
  const isCorrect = reward > 0;
  const rewardTerms = { accuracy: isCorrect ? 1 : 0, 'accumulative-tool': 0 };
  const trajectory = { id: `t/${reward}`, taskId: 't', segments: [], turns: [] };
  const context = {
    metadata,
    // As the analysis does where a task's facts are not what they should be.
    get toolUses(): never[] {
      if ('broken' in metadata) throw new Error('metadata.toCanonical must be six numbers.');
      return [];
    },
  };
  const scored = { ...trajectory, reward, rewardTerms, isCorrect };
  return { trajectory: scored as unknown as ScoredTrajectory, context };
}

describe('the metrics of an audit', () => {
  it('are the share of every detector, and correlations where a term varies', () => {
    const values = auditMetrics(run, [[audited(1), audited(0)]]);
    expect(Object.keys(values)).toEqual([
      ...detectors.names.map((name) => `audit/${name}`),
      'rewards/accuracy/accuracy_correlation',
    ]);
    expect(values['audit/constant-term']).toBe(1);
    expect(values['audit/tool-spam']).toBe(0);
  });

  it('are left out with a warning where the audit breaks: it decides nothing', () => {
    expect(auditMetrics(run, [[audited(1), audited(0, { broken: true })]])).toEqual({});
    expect(events).toEqual([
      {
        kind: 'warning',
        message:
          'The rewards of step 4 could not be audited: metadata.toCanonical must be six numbers.',
      },
    ]);
  });
});
