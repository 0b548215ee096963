/** The suites of this package by name, and groups of them. */
import { defineRegistry, type Registry } from '@saccade/core';
import type { Suite } from './suite/define-suite.ts';
import * as catalog from './suites/catalog.ts';

/** Suites by name. */
export const suites: Registry<Suite> = defineRegistry<Suite>('suite', catalog);

/** The group of a suite's file: the groups that name it. */
const members = (group: string): readonly string[] =>
  suites
    .entries()
    .filter(([, suite]) => suite.groups.includes(group))
    .map(([name]) => name);

const names = new Set(suites.entries().flatMap(([, suite]) => suite.groups));

/**
 * Names of suites by the group that they belong to: `generated` for those that need no data of a
 * user, `public` for readers of published benchmarks, `vista-ood` for VISTA's six checks.
 */
export const suiteGroups: Readonly<Record<string, readonly string[]>> = Object.fromEntries(
  [...names].sort().map((group) => [group, members(group)]),
);
