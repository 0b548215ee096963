/** An evaluation suite: tasks, protocol, scoring and slices, as units with their settings. */
import type { Unit } from '@saccade/core/settings';
import type { Split } from '@saccade/gym';
import { type SuiteDefaults, type SuiteSettingsSchema, suiteSettings } from './suite-settings.ts';

/**
 * The choice of a unit: its name, its name with settings, or a unit of your own with settings. The
 * slots of a run take the same.
 */
export type UnitChoice =
  | string
  | { readonly name: string | { readonly name: string }; readonly [setting: string]: unknown };

/**
 * The value of a task in a slice: text or a number, or undefined for a task outside of it. A list is
 * written with `+` between its elements.
 */
export type Slice = (metadata: Readonly<Record<string, unknown>>) => unknown;

/** A suite as its file defines it. */
export interface SuiteDefinition<Name extends string> {
  readonly name: Name;
  /** One sentence for people. */
  readonly description: string;
  /** Published benchmarks that have this form, for people. */
  readonly form: readonly string[];
  /** Published benchmarks that it is, where it reads them from a copy of the user's. */
  readonly reads?: readonly string[];
  /** Names under which it is evaluated together with others, e.g. `generated`. */
  readonly groups?: readonly string[];
  /** Where the tasks come from. */
  readonly taskSet: UnitChoice;
  /** Default `heldOut`. */
  readonly split?: Split;
  /** Decides whether an answer is right. */
  readonly verifier: UnitChoice;
  /** Grades what the verifier refuses; default none. */
  readonly judge?: UnitChoice;
  /** Default: the model's own. */
  readonly protocol?: UnitChoice;
  /** Tools of the protocol, where it takes any; default: its own. */
  readonly tools?: readonly UnitChoice[];
  /** Values with which it differs from other suites. */
  readonly defaults?: SuiteDefaults;
  /** Beside `source`, `difficulty`, `orientation` and `requiredTools`, which every suite has. */
  readonly slices?: Readonly<Record<string, Slice>>;
}

/** A suite as a catalog holds it. */
export interface Suite extends Unit<SuiteSettingsSchema> {
  readonly form: readonly string[];
  readonly reads: readonly string[];
  readonly groups: readonly string[];
  readonly taskSet: UnitChoice;
  readonly split: Split;
  readonly verifier: UnitChoice;
  readonly judge?: UnitChoice;
  readonly protocol?: UnitChoice;
  readonly tools?: readonly UnitChoice[];
  readonly slices: Readonly<Record<string, Slice>>;
}

const fact =
  (...names: readonly string[]): Slice =>
  (metadata) =>
    names.map((name) => metadata[name]).find((value) => value !== undefined);

/** Slices of every suite; a task whose metadata has no such fact is in none of their values. */
export const commonSlices: Readonly<Record<string, Slice>> = {
  source: fact('dataSource', 'source', 'sources'),
  difficulty: fact('difficulty'),
  orientation: fact('orientation'),
  requiredTools: fact('requiredTools'),
};

/** Defines your own suite, for catalogs and the command line. */
export function defineSuite<const Name extends string>({
  defaults,
  split = 'heldOut',
  slices = {},
  groups = [],
  reads = [],
  ...definition
}: SuiteDefinition<Name>): Suite & { readonly name: Name } {
  return {
    ...definition,
    split,
    groups,
    reads,
    settings: suiteSettings(defaults),
    slices: { ...commonSlices, ...slices },
  };
}

/** The values of a task in the slices of a suite; slices that it is not in are left out. */
export function slicesOf(
  slices: Readonly<Record<string, Slice>>,
  metadata: Readonly<Record<string, unknown>>,
): Readonly<Record<string, string>> {
  const entries = Object.entries(slices).flatMap(([name, slice]): [string, string][] => {
    const value = valueIn(slice(metadata));
    return value === undefined ? [] : [[name, value]];
  });
  return Object.fromEntries(entries);
}

function valueIn(value: unknown): string | undefined {
  if (Array.isArray(value)) return value.length === 0 ? 'none' : [...value].map(String).join('+');
  if (typeof value === 'string') return value === '' ? undefined : value;
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : undefined;
}
