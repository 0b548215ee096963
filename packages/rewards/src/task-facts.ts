/** The facts that rewards read from a task's metadata. */

import { type Affine, type Box, isBox } from '@saccade/code-effects';
import { DataError } from '@saccade/core';
import type { RewardContext } from './reward.ts';

/** All optional: a task set gives what it knows. */
export interface TaskFacts {
  /** `requiredTools`: operations the task cannot be solved without, in order; empty for none. */
  readonly requiredTools?: readonly string[];
  /** `helpfulTools`: names of typed tools that help; a call of another is a call of a wrong tool. */
  readonly helpfulTools?: readonly string[];
  /** `box`: where what is asked about lies, [left, top, right, bottom] in the canonical frame. */
  readonly box?: Box;
  /** `needsSearch`: whether it takes a look at a part of the image. */
  readonly needsSearch?: boolean;
  /**
   * `toCanonical`: from the frame of the first image to the canonical one, six numbers, for a task
   * whose image was turned or flipped before it was given.
   */
  readonly toCanonical?: Affine;
}

/** @throws DataError if one of the facts is there but is not what it should be */
export function taskFacts({ metadata }: Pick<RewardContext, 'metadata'>): TaskFacts {
  const { requiredTools, helpfulTools, box, needsSearch, toCanonical } = metadata;
  const refuse = (name: string, expected: string): never => {
    throw new DataError(`metadata.${name} must be ${expected}. Correct the task set.`);
  };
  if (requiredTools !== undefined && !isTextList(requiredTools)) {
    return refuse('requiredTools', 'a list of operations');
  }
  if (helpfulTools !== undefined && !isTextList(helpfulTools)) {
    return refuse('helpfulTools', 'a list of names');
  }
  if (box !== undefined && !isBox(box)) return refuse('box', 'four numbers');
  if (needsSearch !== undefined && typeof needsSearch !== 'boolean') {
    return refuse('needsSearch', 'true or false');
  }
  if (toCanonical !== undefined && !isAffine(toCanonical)) {
    return refuse('toCanonical', 'six numbers');
  }
  return {
    ...(requiredTools !== undefined && { requiredTools }),
    ...(helpfulTools !== undefined && { helpfulTools }),
    ...(box !== undefined && { box }),
    ...(needsSearch !== undefined && { needsSearch }),
    ...(toCanonical !== undefined && { toCanonical }),
  };
}

function isTextList(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((item) => typeof item === 'string');
}

function isAffine(value: unknown): value is Affine {
  return Array.isArray(value) && value.length === 6 && value.every(Number.isFinite);
}
