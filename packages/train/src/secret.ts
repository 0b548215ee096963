/** Secrets of a run: never in its settings, only in the environment. */
import { ConfigError } from '@saccade/core';

/** A secret from the environment. @throws ConfigError if it is not set */
export function secret(field: string, variable: string): string {
  const value = process.env[variable];
  if (value !== undefined) return value;
  throw new ConfigError(
    field,
    `${field}: the environment has no ${variable}. Set it to the API key.`,
  );
}
