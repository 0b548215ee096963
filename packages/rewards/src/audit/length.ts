/** Flags trajectories that are paid for being long. */
import { quantity } from '@saccade/core/settings';
import { isToolUse } from '@saccade/trajectory';
import { z } from 'zod';
import {
  type Audited,
  type AuditedStep,
  allAudited,
  type Detector,
  defineDetector,
  type Examination,
  portion,
} from '../audit.ts';
import { pearson } from '../correlation.ts';
import { modelTokenCount } from '../rewards/model-text.ts';
import { least, share } from './threshold-fields.ts';

/**
 * Whether reward goes with the number of tokens among trajectories that agree in everything it
 * should pay for: their task, their verdict, and how often they called a tool.
 *
 *   r = corr(L − L̄_s, R − R̄_s),   s = (group, right or wrong, number of calls)
 *
 * Where r reaches the alarm, the trajectories longer and better paid than such peers are flagged.
 * Given the steps of a run, it also sees answers that grow while accuracy does not; then those are
 * flagged that are longer than `growth` times the run's first quarter. Definition ours.
 */
export const length: Detector = defineDetector({
  name: 'length',
  paper: 'ours',
  description: 'paid more for being longer than peers of the same task, verdict and calls',
  settings: z.strictObject({
    alarmCorrelation: share(0.5, 'Correlation of reward and length from which it is an alarm.'),
    leastFreedom: least(16, 'trajectories', 'Trajectories beyond one per stratum.'),
    growth: quantity({
      min: 1,
      max: 1000,
      default: 1.5,
      unit: 'ratio',
      about: 'Length of answers in the last quarter of the steps to that in the first.',
    }),
    accuracyGain: share(0.05, 'Accuracy gained in between, above which growth is earned.'),
    leastSteps: least(8, 'steps', 'Fewer steps show no growth.'),
  }),
  alarm: ({ alarmCorrelation, growth, accuracyGain }) =>
    `a correlation from ${alarmCorrelation}: length explains a quarter of what verdict and calls ` +
    `leave open; or answers ${growth} times as long for less than ${100 * accuracyGain} points`,
  examine(input, thresholds) {
    const grown = growthIn(input.steps ?? [], thresholds);
    const strata = strataOf(input.groups);
    const peers = strata.flat();
    const lengths = deviations(strata, lengthOf);
    const rewards = deviations(strata, ({ trajectory }) => trajectory.reward);
    const freedom = peers.length - strata.length;
    const r = freedom < thresholds.leastFreedom ? undefined : pearson(lengths, rewards);
    if (r !== undefined && r >= thresholds.alarmCorrelation) {
      const flagged = peers.filter(
        (_, i) => (lengths[i] as number) > 0 && (rewards[i] as number) > 0,
      );
      const term = strongestTerm(strata, lengths);
      return {
        flagged,
        isAlarm: true,
        message:
          `Among peers of one task, verdict and number of calls, reward goes with length ` +
          `(r = ${r.toFixed(2)}${term}): bound that term, or punish length.`,
      };
    }
    if (grown !== undefined) return longerThan(allAudited(input), grown);
    const shown = r === undefined ? 'not defined here' : `r = ${r.toFixed(2)}`;
    return {
      flagged: [],
      isAlarm: false,
      message: `Reward does not go with length beyond verdict and calls (${shown}).`,
    };
  },
});

function lengthOf({ trajectory }: Audited): number {
  return modelTokenCount(trajectory);
}

/** Peers of the same group, verdict and number of calls; those without any peer are left out. */
function strataOf(groups: readonly (readonly Audited[])[]): readonly (readonly Audited[])[] {
  return groups.flatMap((group) => {
    const strata = new Map<string, Audited[]>();
    for (const audited of group) {
      const { isCorrect, turns } = audited.trajectory;
      const calls = turns.filter(({ action }) => isToolUse(action)).length;
      const key = `${isCorrect} ${calls}`;
      const own = strata.get(key);
      if (own === undefined) strata.set(key, [audited]);
      else own.push(audited);
    }
    return [...strata.values()].filter(({ length: count }) => count > 1);
  });
}

/** Deviations of a number from the mean of its stratum, in order. */
function deviations(
  strata: readonly (readonly Audited[])[],
  of: (audited: Audited) => number,
): readonly number[] {
  return strata.flatMap((stratum) => {
    const values = stratum.map(of);
    const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
    return values.map((value) => value - mean);
  });
}

function strongestTerm(
  strata: readonly (readonly Audited[])[],
  lengths: readonly number[],
): string {
  const peers = strata.flat();
  const names = new Set(peers.flatMap(({ trajectory }) => Object.keys(trajectory.rewardTerms)));
  let best: readonly [string, number] | undefined;
  for (const name of names) {
    const values = deviations(strata, ({ trajectory }) => trajectory.rewardTerms[name] ?? 0);
    const r = pearson(lengths, values);
    if (r !== undefined && (best === undefined || r > best[1])) best = [name, r];
  }
  return best === undefined ? '' : `, most by "${best[0]}"`;
}

interface Growth {
  readonly first: number;
  readonly last: number;
  /** Tokens from which a trajectory counts as grown. */
  readonly limit: number;
}

function growthIn(
  steps: readonly AuditedStep[],
  limits: { readonly growth: number; readonly accuracyGain: number; readonly leastSteps: number },
): Growth | undefined {
  if (steps.length < Math.max(2, limits.leastSteps)) return undefined;
  const quarter = Math.max(1, Math.floor(steps.length / 4));
  const mean = (part: readonly AuditedStep[], of: (step: AuditedStep) => number): number =>
    part.reduce((sum, step) => sum + of(step), 0) / part.length;
  const [early, late] = [steps.slice(0, quarter), steps.slice(-quarter)];
  const first = mean(early, ({ meanLength }) => meanLength);
  const last = mean(late, ({ meanLength }) => meanLength);
  const gain = mean(late, ({ accuracy }) => accuracy) - mean(early, ({ accuracy }) => accuracy);
  if (first <= 0 || last < limits.growth * first || gain >= limits.accuracyGain) return undefined;
  return { first, last, limit: limits.growth * first };
}

function longerThan(all: readonly Audited[], { first, last, limit }: Growth): Examination {
  const flagged = all.filter((audited) => lengthOf(audited) >= limit);
  return {
    flagged,
    isAlarm: true,
    message:
      `Answers grew from ${first.toFixed(0)} to ${last.toFixed(0)} tokens without more of them being ` +
      `right; ${portion(flagged.length, all.length)} are that long: bound or punish length.`,
  };
}
