/**
 * Audits of rewards: detectors look in scored trajectories for rewards that were earned in
 * unintended ways. They never change a reward.
 */
import { ConfigError } from '@saccade/core';
import type { ScoredTrajectory } from '@saccade/trajectory';
import { type Constants, type Sourced, sourced, valuesOf } from './provenance.ts';
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

/** What a detector found. */
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
  /** Which trajectories it flags. */
  readonly description: string;
  /** When it is an alarm, and why then. */
  readonly alarm: string;
  /** Its thresholds, and where each comes from. */
  readonly constants: Constants;
  examine(input: AuditInput): Finding;
  /** The detector with other thresholds. @throws ConfigError for a name it does not have */
  with(thresholds: Readonly<Record<string, number>>): Detector;
}

/** What a detector's rule returns; share and ids are computed from it. */
export interface Examination {
  readonly flagged: readonly Audited[];
  readonly isAlarm: boolean;
  readonly message: string;
}

type Thresholds<Name extends string> = Readonly<Record<Name, number>>;

/** The argument of `defineDetector`: a rule and its thresholds, each with its source. */
export interface DetectorDefinition<Name extends string>
  extends Pick<Detector, 'name' | 'paper' | 'description'> {
  readonly thresholds: Sourced<Thresholds<Name>>;
  /** Says the alarm in words. */
  alarm(thresholds: Thresholds<Name>): string;
  examine(input: AuditInput, thresholds: Thresholds<Name>): Examination;
}

/** A detector from its rule and its thresholds. */
export function defineDetector<Name extends string>(
  definition: DetectorDefinition<Name>,
): Detector {
  const { name, paper, description, thresholds } = definition;
  const values = valuesOf(thresholds) as Thresholds<Name>;
  return {
    name,
    paper,
    description,
    alarm: definition.alarm(values),
    constants: thresholds as Constants,
    examine(input) {
      const count = countAudited(input);
      const { flagged, isAlarm, message } = definition.examine(input, values);
      const ids = flagged.map(({ trajectory }) => trajectory.id);
      const share = count === 0 ? 0 : ids.length / count;
      return { detector: name, share, flagged: ids, isAlarm, message };
    },
    with(given) {
      const changed: Record<string, unknown> = { ...thresholds };
      for (const [key, value] of Object.entries(given)) {
        if (!Object.hasOwn(thresholds, key)) {
          const known = Object.keys(thresholds).join(', ');
          throw new ConfigError(
            `${name}.${key}`,
            `${name} has no threshold "${key}". Known: ${known}.`,
          );
        }
        if (!Number.isFinite(value)) {
          throw new ConfigError(
            `${name}.${key}`,
            `${name}.${key}: expected a number, got ${value}. Leave it out for the default.`,
          );
        }
        changed[key] = sourced(value, 'ours');
      }
      const other = changed as unknown as Sourced<Thresholds<Name>>;
      return defineDetector({ ...definition, thresholds: other });
    },
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
