/** Other weights and constants for the terms of a reward, by name. */
import { ConfigError } from '@saccade/core';
import { type Constant, sourced } from './provenance.ts';
import type { AnyReward } from './reward.ts';
import type { RewardTerm } from './score.ts';

export interface TermChange {
  /** Name of a term. */
  readonly term: string;
  /** Name of one of its constants; without it the weight is changed. */
  readonly constant?: string;
  readonly value: number | string | boolean;
}

/**
 * The terms with changes put in, in order.
 *
 * @throws ConfigError naming what is known, for a term or a constant that is not there, a value of
 *   another type, and a constant that follows from the others
 */
export function changeTerms(
  terms: readonly RewardTerm[],
  changes: readonly TermChange[],
): readonly RewardTerm[] {
  let changed = terms;
  for (const change of changes) {
    if (!changed.some(({ reward }) => reward.name === change.term)) {
      const known = changed.map(({ reward }) => reward.name).join(', ');
      throw new ConfigError(change.term, `There is no term "${change.term}". Known: ${known}.`);
    }
    changed = changed.map((term) =>
      term.reward.name === change.term ? apply(term, change) : term,
    );
  }
  return changed;
}

function apply({ reward, weight }: RewardTerm, { constant, value }: TermChange): RewardTerm {
  if (constant !== undefined) return { reward: withConstant(reward, constant, value), weight };
  if (typeof value === 'number' && Number.isFinite(value)) return { reward, weight: value };
  throw new ConfigError(
    reward.name,
    `${reward.name}: expected a finite number as weight, got ${JSON.stringify(value)}. ` +
      `Constants are changed by ${reward.name}.<constant>.`,
  );
}

function withConstant(reward: AnyReward, name: string, value: Constant['value']): AnyReward {
  const { constants = {} } = reward;
  const path = `${reward.name}.${name}`;
  const before = Object.hasOwn(constants, name) ? constants[name] : undefined;
  if (before === undefined || reward.with === undefined) {
    const names = Object.keys(constants).join(', ');
    throw new ConfigError(
      path,
      `${reward.name} has no constant "${name}". ${names === '' ? 'It has none.' : `Known: ${names}.`}`,
    );
  }
  const isUsable = typeof value !== 'number' || Number.isFinite(value);
  if (typeof value !== typeof before.value || !isUsable) {
    throw new ConfigError(
      path,
      `${path}: expected a ${typeof before.value} such as ${before.value}, got ` +
        `${JSON.stringify(value)}.`,
    );
  }
  const made = reward.with({ [name]: sourced(value, 'ours') });
  if (made.constants?.[name]?.value !== value) {
    throw new ConfigError(path, `${path} follows from the other constants. Change one of those.`);
  }
  return made;
}
