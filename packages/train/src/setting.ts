/** One setting as text: `--set path=value`. */
import { ConfigError } from '@saccade/core';

/** A value given by hand for one field; its path may leave out what comes before its last words. */
export interface Setting {
  readonly path: string;
  readonly value: unknown;
}

/**
 * Reads one `path=value`. The value is JSON where it parses as JSON, else a string.
 *
 * @throws ConfigError if there is no `=`
 */
export function parseSetting(given: string): Setting {
  const equals = given.indexOf('=');
  if (equals <= 0) {
    const shown = given.length > 60 ? `${given.slice(0, 57)}...` : given;
    throw new ConfigError(
      shown,
      `--set ${shown}: expected path=value, got no ${equals === 0 ? 'path' : '"="'}. ` +
        'Write it like --set rl.steps=50.',
    );
  }
  const path = given.slice(0, equals).trim();
  const raw = given.slice(equals + 1).trim();
  try {
    return { path, value: JSON.parse(raw) };
  } catch {
    return { path, value: raw };
  }
}
