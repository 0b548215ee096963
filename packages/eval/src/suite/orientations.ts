/** Any suite of images under six orientations (CodeVision, arXiv:2512.03746, §4.2). */
import { ConfigError } from '@saccade/core';
import type { Suite, UnitChoice } from './define-suite.ts';

/**
 * The suite with every task upright, turned by 90, 180 and 270 degrees, and flipped both ways; its
 * slice `orientation` has the six columns. As many tasks as six times those of the suite.
 *
 * @throws ConfigError for a suite whose task set is no unit of a catalog
 */
export function underOrientations(suite: Suite): Suite {
  const { name, settings } = nameAndSettings(suite.taskSet);
  if (typeof name !== 'string') {
    throw new ConfigError(
      'suite',
      `orientation:${suite.name}: its task set is none of a catalog. Wrap the task set instead.`,
    );
  }
  const ofSettings = Object.entries(settings).map(([key, value]) => `${key}=${textOf(value)}`);
  return {
    ...suite,
    name: `orientation-${suite.name}`,
    description: `Under six orientations: ${suite.description}`,
    taskSet: { name: 'orientation', of: name, ofSettings },
  };
}

function nameAndSettings(choice: UnitChoice) {
  if (typeof choice === 'string') return { name: choice, settings: {} };
  const { name, ...settings } = choice;
  return { name, settings };
}

const textOf = (value: unknown): string =>
  Array.isArray(value) ? value.map(String).join('+') : String(value);
