/** Judging services that a run can choose by name: they grade answers, crops and reasoning. */
import type { SettingsOf, SettingsSchema, Unit } from '@saccade/core/settings';
import type { GroupJudges } from '../judge-group.ts';

/** The context that a run gives its judges. */
export interface JudgingContext {
  /** The run's directory, where grades are cached: a resumed run asks nothing twice. */
  readonly directory: string;
  /** A secret by the name of its environment variable. @throws ConfigError if it is not set */
  secret(field: string, variable: string): string;
}

/**
 * A service that grades what no rule can, as a unit of the slot `judge`. `open` connects it and
 * returns the judges it offers.
 */
export interface JudgingUnit<Schema extends SettingsSchema = SettingsSchema> extends Unit<Schema> {
  readonly name: string;
  readonly description: string;
  /** @throws ConfigError for settings that do not go together */
  open(settings: SettingsOf<Schema>, context: JudgingContext): GroupJudges;
}

/** Defines your own judging service, for catalogs and recipes. */
export function defineJudging<const Name extends string, Schema extends SettingsSchema>(
  unit: JudgingUnit<Schema> & { readonly name: Name },
): JudgingUnit<Schema> & { readonly name: Name } {
  return unit;
}
