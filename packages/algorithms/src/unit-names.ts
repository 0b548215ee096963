/** The names units of a catalog go by in settings. */
import { ConfigError } from '@saccade/core';

/** `sequenceMeanTokenMean` → `sequence-mean-token-mean`. */
function kebabCase(name: string): string {
  return name.replace(/([a-z0-9])([A-Z])/g, '$1-$2').toLowerCase();
}

export function unitNames(catalog: Readonly<Record<string, unknown>>): readonly string[] {
  return Object.keys(catalog).map(kebabCase).sort();
}

/** @throws ConfigError listing the known names */
export function unitNamed<Unit>(
  noun: string,
  catalog: Readonly<Record<string, Unit>>,
  name: string,
): Unit {
  const entry = Object.entries(catalog).find(([key]) => kebabCase(key) === name);
  if (entry === undefined) {
    throw new ConfigError(
      noun,
      `There is no ${noun} "${name}". Known: ${unitNames(catalog).join(', ')}.`,
    );
  }
  return entry[1];
}
