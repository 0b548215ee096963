/** Makes rewards from a scoring rule and a schema of the settings that the rule reads. */
import {
  readSettings,
  type SettingsOf,
  type SettingsSchema,
  type Unit,
} from '@saccade/core/settings';
import type { Group, Trajectory } from '@saccade/trajectory';
import { z } from 'zod';
import type { Constant, Constants, Provenance } from './provenance.ts';
import type { GroupReward, JudgedInput, Reward, RewardContext, TurnReward } from './reward.ts';

interface ByScope {
  readonly trajectory: Reward;
  readonly turn: TurnReward;
  readonly group: GroupReward;
}

/** The unit that a reward scores: a `trajectory`, each `turn` of one, or a whole `group`. */
export type Scope = keyof ByScope;

/** A reward with its settings, and the same reward with other settings. */
export type ConfiguredReward<
  Of extends Scope,
  Schema extends SettingsSchema = SettingsSchema,
> = Omit<ByScope[Of], 'constants' | 'with'> &
  Unit<Schema> & {
    /** The settings that this instance scores with. */
    readonly values: SettingsOf<Schema>;
    /** The settings, and the numbers that follow from them, each with its provenance. */
    readonly constants: Constants;
    /**
     * The reward with some settings changed; the others stay.
     *
     * @param from where the new values come from. Default `ours`
     * @throws ConfigError naming the setting, the value and what is allowed
     */
    with(
      values: Readonly<Record<string, unknown>>,
      from?: Provenance,
    ): ConfiguredReward<Of, Schema>;
  };

/** A reward unit of any scope, as the registry holds it. */
export type RewardUnit =
  | ConfiguredReward<'trajectory'>
  | ConfiguredReward<'turn'>
  | ConfiguredReward<'group'>;

interface Scorers<Values> {
  readonly trajectory: (trajectory: Trajectory, context: RewardContext, values: Values) => number;
  readonly turn: (
    trajectory: Trajectory,
    context: RewardContext,
    values: Values,
  ) => readonly number[];
  readonly group: (
    group: Group,
    contexts: readonly RewardContext[],
    values: Values,
  ) => readonly number[];
}

type NoSettings = z.ZodObject<Record<never, never>, z.core.$strict>;

/**
 * The argument of `defineReward`: a scoring rule, the schema of its settings, and where each
 * default comes from.
 */
export interface RewardDefinition<Of extends Scope, Schema extends SettingsSchema> {
  readonly name: string;
  readonly scope: Of;
  /** One sentence for people. */
  readonly description: string;
  /** Paper and equation, or the public code. */
  readonly paper: string;
  /** The inputs that it needs from judges before it can score. */
  readonly needs?: readonly JudgedInput[];
  readonly settings?: Schema;
  /** Where each default comes from. */
  readonly origins?: { readonly [Name in keyof SettingsOf<Schema>]: Provenance };
  /** Smallest and largest value that it can give. */
  readonly range:
    | readonly [number, number]
    | ((values: SettingsOf<Schema>) => readonly [number, number]);
  /** Numbers that follow from the settings, for people. */
  readonly derive?: (values: SettingsOf<Schema>) => Readonly<Record<string, number>>;
  readonly score: Scorers<SettingsOf<Schema>>[Of];
}

/**
 * A reward with its settings at their defaults.
 *
 * @throws ConfigError if the defaults break the schema's own rules
 */
export function defineReward<Of extends Scope, Schema extends SettingsSchema = NoSettings>(
  definition: RewardDefinition<Of, Schema>,
): ConfiguredReward<Of, Schema> {
  return configure(definition, {}, {});
}

function configure<Of extends Scope, Schema extends SettingsSchema>(
  definition: RewardDefinition<Of, Schema>,
  given: Readonly<Record<string, unknown>>,
  changed: Readonly<Record<string, Provenance>>,
): ConfiguredReward<Of, Schema> {
  const { name, scope, description, paper, needs, derive } = definition;
  const settings = (definition.settings ?? z.strictObject({})) as unknown as Schema;
  const values = readSettings(name, settings, given);
  const sources: Readonly<Record<string, Provenance>> = { ...definition.origins, ...changed };
  const constants: Record<string, Constant> = {};
  for (const [key, value] of Object.entries(values)) {
    constants[key] = { value: value as Constant['value'], from: sources[key] ?? 'ours' };
  }
  for (const [key, value] of Object.entries(derive?.(values) ?? {})) {
    constants[key] = { value, from: 'derived' };
  }
  const range = definition.range;
  const score = definition.score as (...parts: readonly unknown[]) => unknown;
  const made = {
    name,
    scope,
    description,
    paper,
    ...(needs && { needs }),
    settings,
    values,
    constants,
    range: typeof range === 'function' ? range(values) : range,
    score: (subject: unknown, context: unknown) => score(subject, context, values),
    with(next: Readonly<Record<string, unknown>>, from: Provenance = 'ours') {
      const marked = Object.fromEntries(Object.keys(next).map((key) => [key, from]));
      return configure(definition, { ...values, ...next }, { ...changed, ...marked });
    },
  };
  // The scope, its score and its type go together by the definition's type.
  return made as unknown as ConfiguredReward<Of, Schema>;
}
