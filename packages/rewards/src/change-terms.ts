/** Changes weights and settings of the terms of a reward, by name. */
import { ConfigError } from '@saccade/core';
import type { ConstantValue } from './provenance.ts';
import type { AnyReward } from './reward.ts';
import type { RewardTerm } from './score.ts';

/**
 * One change of a reward: the weight of a term, or one of its settings. `saccade rescore --set
 * overlong.maxTokens=512` is `{ term: 'overlong', constant: 'maxTokens', value: 512 }`.
 */
export interface TermChange {
  /** Name of a term. */
  readonly term: string;
  /** Name of one of its settings; without it the weight is changed. */
  readonly constant?: string;
  readonly value: ConstantValue;
}

/**
 * The terms with changes applied, in order.
 *
 * @throws ConfigError naming what is known, for an unknown term or setting, a value that the setting
 *   does not take, and a constant that follows from the settings
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
      `Settings are changed by ${reward.name}.<setting>.`,
  );
}

function withConstant(reward: AnyReward, name: string, value: ConstantValue): AnyReward {
  const { constants = {} } = reward;
  const path = `${reward.name}.${name}`;
  const before = Object.hasOwn(constants, name) ? constants[name] : undefined;
  if (before === undefined || reward.with === undefined) {
    const settings = Object.entries(constants).filter(([, { from }]) => from !== 'derived');
    const names = settings.map(([own]) => own).join(', ');
    throw new ConfigError(
      path,
      `${reward.name} has no constant "${name}". ${names === '' ? 'It has none.' : `Known: ${names}.`}`,
    );
  }
  if (before.from === 'derived') {
    throw new ConfigError(path, `${path} follows from the other constants. Change one of those.`);
  }
  return reward.with({ [name]: value });
}
