/** Checks of what callers pass: each refusal names the argument, what came and what was expected. */
import { ConfigError, DataError, ShapeError } from '@saccade/core';

/** @throws ConfigError for anything but an integer in [min, max] */
export function expectCount(name: string, value: number, min: number, max = Infinity): void {
  if (Number.isInteger(value) && value >= min && value <= max) return;
  const range = max === Infinity ? `of at least ${min}` : `in [${min}, ${max}]`;
  throw new ConfigError(
    name,
    `${name}: expected an integer ${range}, got ${value}. Pass another ${name}.`,
  );
}

/** @throws ConfigError for anything but a number strictly between 0 and 1 */
export function expectShare(name: string, value: number): void {
  if (value > 0 && value < 1) return;
  throw new ConfigError(
    name,
    `${name}: expected a number between 0 and 1, both excluded, got ${value}. ` +
      `Pass another ${name}, such as 0.95.`,
  );
}

/** @throws ConfigError for anything but a finite number above 0 */
export function expectPositive(name: string, value: number): void {
  if (Number.isFinite(value) && value > 0) return;
  throw new ConfigError(
    name,
    `${name}: expected a finite number above 0, got ${value}. Pass another ${name}.`,
  );
}

/** @throws DataError if there are none, or one is not finite */
export function expectValues(name: string, values: readonly number[]): void {
  if (values.length === 0) {
    throw new DataError(`${name}: expected at least one value, got none. Leave out what is empty.`);
  }
  const at = values.findIndex((value) => !Number.isFinite(value));
  if (at < 0) return;
  throw new DataError(
    `${name}: expected finite numbers, got ${values[at]} at index ${at}. ` +
      'Decide how what could not be measured counts, and pass that.',
  );
}

/** @throws ShapeError if two lists that belong together differ in length */
export function expectPairs(
  [firstName, first]: readonly [string, readonly unknown[]],
  [secondName, second]: readonly [string, readonly unknown[]],
): void {
  if (first.length === second.length) return;
  throw new ShapeError(
    `${firstName} has ${first.length} entries, ${secondName} has ${second.length}; ` +
      'they belong together one by one. Pass lists of the same length.',
  );
}
