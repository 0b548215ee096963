/** How a run scores and audits what it rolled out, from its settings. */
import type { ScoredGroup as AlgorithmGroup } from '@saccade/algorithms';
import { type AuditSettings, type RewardTerm, type Scoring, termsOf } from '@saccade/rewards';
import type { ScoredGroup } from '@saccade/schedulers';
import { protocolOf } from './protocol-of.ts';
import type { ResolvedRun } from './run-config.ts';
import { required, settingsOf } from './unit-settings.ts';

/**
 * The terms of a run's reward. One that a person weighs 0 is left out: it would be a constant among
 * the terms.
 */
export function rewardTermsOf({ config, units }: ResolvedRun): readonly RewardTerm[] {
  const preset = required(units.reward);
  const weights = new Map(preset.terms.map(({ reward, weight }) => [reward.name, weight.value]));
  return termsOf(preset, settingsOf(config.reward) as Parameters<typeof termsOf>[1]).filter(
    ({ reward, weight }) => weight !== 0 || weights.get(reward.name) === 0,
  );
}

/** The scoring of a run's trajectories, without judges. */
export function scoringOf(run: ResolvedRun): Scoring {
  const { config, units } = run;
  const { wholeShare, repeatedIou, quarterDegrees, ...verdict } = config.scoring;
  const { runtime } = protocolOf(run);
  return {
    verifier: required(units.verifier).with(settingsOf(config.verifier)),
    terms: rewardTermsOf(run),
    verdict,
    analysis: {
      thresholds: { wholeShare, repeatedIou, quarterDegrees },
      ...(runtime && { isPersistent: runtime.keepsVariables }),
    },
  };
}

/** The options with which a run audits its steps, for audits of its stored data. */
export function auditOptionsOf(run: ResolvedRun): Required<Pick<Scoring, 'terms' | 'analysis'>> & {
  readonly thresholds: AuditSettings;
} {
  const { terms, analysis = {} } = scoringOf(run);
  return { terms, analysis, thresholds: run.config.audit as AuditSettings };
}

/** A group as algorithms see it. */
export function algorithmGroup({ trajectories, baseline }: ScoredGroup): AlgorithmGroup {
  const tokensOf = ({ segments }: ScoredGroup['trajectories'][number]) =>
    segments.reduce((sum, { kind, tokens }) => sum + (kind === 'model' ? tokens.length : 0), 0);
  const names = new Set(trajectories.flatMap(({ rewardTerms }) => Object.keys(rewardTerms)));
  const terms = [...names].map((name) => [
    name,
    Float64Array.from(trajectories, ({ rewardTerms }) => rewardTerms[name] ?? 0),
  ]);
  return {
    rewards: Float64Array.from(trajectories, ({ reward }) => reward),
    tokenCounts: trajectories.map(tokensOf),
    ...(baseline && { greedyReward: baseline.reward }),
    terms: {
      accuracy: Float64Array.from(trajectories, ({ isCorrect }) => (isCorrect ? 1 : 0)),
      ...Object.fromEntries(terms),
    },
  };
}
