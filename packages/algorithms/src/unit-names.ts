/** The names that settings use for the units of a catalog. */
import { ConfigError } from '@saccade/core';

/** `sequenceMeanTokenMean` → `sequence-mean-token-mean`. */
function kebabCase(name: string): string {
  return name.replace(/([a-z0-9])([A-Z])/g, '$1-$2').toLowerCase();
}

/** `tokenRatio` → `token`, where the noun is `ratio`. */
function unitName(key: string, noun: string): string {
  return kebabCase(key.replace(new RegExp(`${noun}(?=$|[A-Z])`, 'i'), ''));
}

export function unitNames(
  catalog: Readonly<Record<string, unknown>>,
  noun = ' ',
): readonly string[] {
  return Object.keys(catalog)
    .map((key) => unitName(key, noun))
    .sort();
}

/** @throws ConfigError listing the known names */
export function unitNamed<Unit>(
  noun: string,
  catalog: Readonly<Record<string, Unit>>,
  name: string,
): Unit {
  const entry = Object.entries(catalog).find(([key]) => unitName(key, noun) === name);
  if (entry === undefined) {
    throw new ConfigError(
      noun,
      `There is no ${noun} "${name}". Known: ${unitNames(catalog, noun).join(', ')}.`,
    );
  }
  return entry[1];
}
