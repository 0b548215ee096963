/** A registry is a frozen, sorted, typed view of a catalog module; unknown names list the known. */
import { ConfigError } from './errors.ts';
import { nearestName } from './nearest-name.ts';

/**
 * A frozen view of a catalog: looks units up by name, and lists them sorted by name.
 * `defineRegistry` makes one.
 */
export interface Registry<Unit> {
  /** Singular noun for the units, for messages: `reward`. */
  readonly noun: string;
  /** All names, sorted. */
  readonly names: readonly string[];
  /** Whether there is a unit of exactly this name. */
  has(name: string): boolean;
  /** @throws ConfigError  if no unit has this name; it lists the known names and the nearest one */
  get(name: string): Unit;
  /** Name and unit of each, sorted by name. */
  entries(): readonly (readonly [string, Unit])[];
}

/** `packageHunt` and `package_hunt` both become `package-hunt`. */
function kebabCase(name: string): string {
  return name
    .replace(/([a-z0-9])([A-Z])/g, '$1-$2')
    .replaceAll('_', '-')
    .toLowerCase();
}

/**
 * Makes a registry from a catalog (`import * as catalog from './rewards/catalog.ts'`).
 *
 * A unit's name is its own `id` or `name` where it has one, else its export's name in kebab-case.
 *
 * @throws ConfigError  if two units have the same name
 */
export function defineRegistry<Unit>(
  noun: string,
  catalog: Readonly<Record<string, Unit>>,
): Registry<Unit> {
  const units = new Map<string, Unit>();
  for (const [key, unit] of Object.entries(catalog)) {
    const own = unit as { name?: unknown; id?: unknown };
    const name =
      typeof own.id === 'string'
        ? own.id
        : typeof unit === 'object' && typeof own.name === 'string'
          ? own.name
          : kebabCase(key);
    if (units.has(name)) {
      throw new ConfigError(noun, `Two ${noun}s are called "${name}". Rename one in its file.`);
    }
    units.set(name, unit);
  }
  const names = Object.freeze([...units.keys()].sort());
  return Object.freeze({
    noun,
    names,
    has: (name: string) => units.has(name),
    get(name: string): Unit {
      const unit = units.get(name);
      if (unit === undefined) {
        const near = nearestName(name, names);
        const hint = near === undefined ? '' : ` Did you mean "${near}"?`;
        const asked = name.length > 60 ? `${name.slice(0, 57)}...` : name;
        throw new ConfigError(
          noun,
          `There is no ${noun} "${asked}". Known: ${names.join(', ')}.${hint}`,
        );
      }
      return unit;
    },
    entries: () => names.map((name) => [name, units.get(name) as Unit] as const),
  });
}
