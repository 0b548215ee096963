/** The environment of tools' processes: what they inherit, and the secrets they ask for. */
import { ConfigError } from '@saccade/core';

/** This process's own environment with what a placement adds, e.g. a device. */
export function environmentWith(added: Readonly<Record<string, string>>): NodeJS.ProcessEnv {
  return { ...process.env, ...added };
}

/** A secret of a tool. @throws ConfigError naming the field if it is not set */
export function secretFrom(field: string, variable: string): string {
  const value = process.env[variable];
  if (value !== undefined) return value;
  throw new ConfigError(
    field,
    `${field}: the environment has no ${variable}. Set it to the secret.`,
  );
}
