/**
 * Audits of rewards: detectors look in scored trajectories for rewards that were earned in
 * unintended ways. They never change a reward.
 */
import { readSettings, type SettingsOf, type SettingsSchema } from '@saccade/core/settings';
import type { ScoredTrajectory } from '@saccade/trajectory';
import { type Constants, type ConstantValue, sourced } from './provenance.ts';
import type { RewardContext } from './reward.ts';
import type { RewardTerm } from './score.ts';

/** A trajectory with the analysis of its code from scoring, so that it is not analyzed twice. */
export interface Audited {
  readonly trajectory: ScoredTrajectory;
  readonly context: Pick<RewardContext, 'metadata' | 'toolUses'>;
}

/** A step of a run, for detectors of what shows only over time. */
export interface AuditedStep {
  readonly step: number;
  /** Tokens the model wrote per trajectory. */
  readonly meanLength: number;
  /** Share of right trajectories, 0 to 1. */
  readonly accuracy: number;
}

/**
 * Everything a detector may look at. `auditedGroup` turns the result of `scoreGroup` into one of
 * its groups.
 */
export interface AuditInput {
  /** Scored trajectories by group: those of one task that are compared with each other. */
  readonly groups: readonly (readonly Audited[])[];
  /** The reward, if it is known: what weighs nothing, and penalties that nobody earns, may be constant. */
  readonly terms?: readonly RewardTerm[];
  /** Steps of the run so far, oldest first. */
  readonly steps?: readonly AuditedStep[];
}

/** A detector's finding. */
export interface Finding {
  readonly detector: string;
  /** Trajectories flagged, 0 to 1. */
  readonly share: number;
  /** Ids of the flagged trajectories, in order. */
  readonly flagged: readonly string[];
  readonly isAlarm: boolean;
  /** One sentence that says what it is and what to do. */
  readonly message: string;
}

/**
 * A check for one way to earn a reward without doing what it is meant for. It flags trajectories
 * and never changes a reward.
 */
export interface Detector {
  /** Kebab-case; the metric is `audit/<name>`. */
  readonly name: string;
  /** Where its definition comes from. */
  readonly paper: string;
  /** Describes the trajectories that it flags. */
  readonly description: string;
  /** When it is an alarm, and why then. */
  readonly alarm: string;
  /** Its thresholds: meaning, unit, range and default. */
  readonly settings: SettingsSchema;
  /** The thresholds of this instance, and where each comes from. */
  readonly constants: Constants;
  examine(input: AuditInput): Finding;
  /**
   * The detector with some thresholds changed.
   *
   * @throws ConfigError naming the threshold, what came and what was expected
   */
  with(thresholds: Readonly<Record<string, unknown>>): Detector;
}

/** The result of a detector's rule; share and ids are computed from it. */
export interface Examination {
  readonly flagged: readonly Audited[];
  readonly isAlarm: boolean;
  readonly message: string;
}

/**
 * The argument of `defineDetector`: a rule and the schema of its thresholds, which are ours: no paper
 * prints any.
 */
export interface DetectorDefinition<Schema extends SettingsSchema>
  extends Pick<Detector, 'name' | 'paper' | 'description'> {
  readonly settings: Schema;
  /** Says the alarm in words. */
  alarm(thresholds: SettingsOf<Schema>): string;
  examine(input: AuditInput, thresholds: SettingsOf<Schema>): Examination;
}

/** A detector from its rule and its thresholds. */
export function defineDetector<Schema extends SettingsSchema>(
  definition: DetectorDefinition<Schema>,
): Detector {
  return configure(definition, {});
}

function configure<Schema extends SettingsSchema>(
  definition: DetectorDefinition<Schema>,
  given: Readonly<Record<string, unknown>>,
): Detector {
  const { name, paper, description, settings } = definition;
  const values = readSettings(name, settings, given);
  const constants = Object.entries(values).map(([key, value]) => {
    return [key, sourced(value as ConstantValue, 'ours')] as const;
  });
  return {
    name,
    paper,
    description,
    settings,
    alarm: definition.alarm(values),
    constants: Object.fromEntries(constants),
    examine(input) {
      const count = countAudited(input);
      const { flagged, isAlarm, message } = definition.examine(input, values);
      const ids = flagged.map(({ trajectory }) => trajectory.id);
      const share = count === 0 ? 0 : ids.length / count;
      return { detector: name, share, flagged: ids, isAlarm, message };
    },
    with: (thresholds) => configure(definition, { ...values, ...thresholds }),
  };
}

/** All trajectories of an input, in order. */
export function allAudited({ groups }: AuditInput): readonly Audited[] {
  return groups.flat();
}

function countAudited({ groups }: AuditInput): number {
  return groups.reduce((sum, group) => sum + group.length, 0);
}

/** `15.3 %`, `10 %`. */
export function percent(share: number): string {
  return `${Number((100 * share).toFixed(1))} %`;
}

/** `12 of 80 trajectories (15 %)`. */
export function portion(count: number, total: number, noun = 'trajectories'): string {
  return `${count} of ${total} ${noun} (${percent(total === 0 ? 0 : count / total)})`;
}
