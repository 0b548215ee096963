/** Suites over published benchmarks, read by the task set `dataset` where a user has them. */
import { defineSuite, type Slice, type Suite, type UnitChoice } from './define-suite.ts';
import type { SuiteDefaults } from './suite-settings.ts';

/** A published benchmark as a suite. */
export interface PublicSuite<Name extends string> {
  readonly name: Name;
  readonly description: string;
  /** The names of the benchmark, as `form` of other suites has them. */
  readonly reads: readonly string[];
  /** Where it is published; `--set <suite>.taskSet.from=<folder>` reads a copy. */
  readonly from: string;
  /** How its rows become tasks: a mapping of `@saccade/datasets`. */
  readonly mapping: string;
  /** Files of the split that is evaluated, where the reader would not find them by their names. */
  readonly files?: readonly string[];
  readonly verifier: UnitChoice;
  readonly protocol?: UnitChoice;
  readonly defaults?: SuiteDefaults;
  readonly slices?: Readonly<Record<string, Slice>>;
  readonly groups?: readonly string[];
}

/** Tasks of a benchmark: all that it has. */
const ALL = 1_000_000;

/**
 * Defines a suite over a published benchmark. All rows of its split are tasks, in their order, and one
 * that cannot be read is an error: nothing is evaluated on a part without a word.
 */
export function definePublicSuite<const Name extends string>({
  name,
  description,
  from,
  mapping,
  files = [],
  groups = [],
  defaults,
  ...rest
}: PublicSuite<Name>): Suite & { readonly name: Name } {
  return defineSuite({
    ...rest,
    name,
    description,
    form: [],
    groups: ['public', ...groups],
    taskSet: {
      name: 'dataset',
      ...{ from, mapping, heldOutShare: 1, maxCorruptShare: 0, shuffleBytes: 0 },
      ...(files.length > 0 && { heldOutFiles: files }),
    },
    defaults: { tasks: ALL, ...defaults },
  });
}
