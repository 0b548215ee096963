/** Secrets of a run: from the environment, never from a setting. */
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
