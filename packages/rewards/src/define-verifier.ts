/** Makes verifiers from a comparison and a schema of the settings that it reads. */
import {
  readSettings,
  type SettingsOf,
  type SettingsSchema,
  type Unit,
} from '@saccade/core/settings';
import { z } from 'zod';
import type { Verifier } from './reward.ts';

/** A verifier as the registry holds it: with its settings, and with others by `with`. */
export interface VerifierUnit extends Verifier, Unit {
  readonly paper: string;
  readonly values: Readonly<Record<string, unknown>>;
  /** @throws ConfigError naming the setting, the value and what is allowed */
  with(values: Readonly<Record<string, unknown>>): VerifierUnit;
}

/** The argument of `defineVerifier`: a comparison and the schema of its settings. */
export interface VerifierDefinition<Schema extends SettingsSchema> {
  readonly name: string;
  /** One sentence for people. */
  readonly description: string;
  /** Where its definition comes from. */
  readonly paper: string;
  /** An answer of the kind it reads, where that is not a number. */
  readonly example?: string;
  readonly settings?: Schema;
  /** 0 for wrong, 1 for right, or a value in between; never throws. */
  readonly verify: (answer: string, expected: string, values: SettingsOf<Schema>) => number;
}

/** A verifier with its settings at their defaults. */
export function defineVerifier<Schema extends SettingsSchema = z.ZodObject<Record<never, never>>>(
  definition: VerifierDefinition<Schema>,
): VerifierUnit {
  return configure(definition, {});
}

function configure<Schema extends SettingsSchema>(
  definition: VerifierDefinition<Schema>,
  given: Readonly<Record<string, unknown>>,
): VerifierUnit {
  const { verify, ...described } = definition;
  const settings = (definition.settings ?? z.strictObject({})) as unknown as Schema;
  const values = readSettings(definition.name, settings, given);
  return {
    ...described,
    settings,
    values,
    verify: (answer, expected) => verify(answer, expected, values),
    with: (next) => configure(definition, { ...values, ...next }),
  };
}
