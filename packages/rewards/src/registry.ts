/** All rewards, verifiers, judges, presets and detectors by name. */
import { ConfigError, defineRegistry, type Registry } from '@saccade/core';
import * as detectorCatalog from './audit/catalog.ts';
import type { Detector } from './audit.ts';
import type { Judge } from './judge.ts';
import * as judgeCatalog from './judges/catalog.ts';
import { type PresetTerm, type PresetVariant, type RewardPreset, termsOf } from './preset.ts';
import * as presetCatalog from './presets/catalog.ts';
import type { AnyReward, Verifier } from './reward.ts';
import * as rewardCatalog from './rewards/catalog.ts';
import type { RewardTerm } from './score.ts';
import * as verifierCatalog from './verifiers/catalog.ts';

export const rewards: Registry<AnyReward> = defineRegistry<AnyReward>('reward', rewardCatalog);

export const verifiers: Registry<Verifier> = defineRegistry<Verifier>('verifier', verifierCatalog);

export const judges: Registry<Judge<never>> = defineRegistry<Judge<never>>('judge', judgeCatalog);

export const presets: Registry<RewardPreset> = defineRegistry<RewardPreset>(
  'reward preset',
  presetCatalog,
);

export const detectors: Registry<Detector> = defineRegistry<Detector>('detector', detectorCatalog);

/** The name of the whole system, which its algorithm has too. */
const otherNames: Readonly<Record<string, string>> = { 'pyvision-rl': 'pyvision' };

/**
 * A preset and its variant: `codevision`, which means the paper's, or `codevision/code`.
 *
 * @throws ConfigError naming the known presets and variants
 */
export function presetNamed(name: string): {
  readonly preset: RewardPreset;
  readonly variant: PresetVariant;
  readonly terms: readonly PresetTerm[];
} {
  const [base = '', variant = 'paper', ...rest] = name.split('/');
  const preset = presets.get(otherNames[base] ?? base);
  if ((variant !== 'paper' && variant !== 'code') || rest.length > 0) {
    throw new ConfigError(
      'reward preset',
      `There is no variant of the reward preset in "${name}". Known: ${base}/paper, ${base}/code.`,
    );
  }
  return { preset, variant, terms: preset.variants[variant] };
}

/**
 * The terms of a preset.
 *
 * @param weights by a term's name, instead of the preset's; names that it does not have are refused
 * @throws ConfigError naming what is known
 */
export function presetTerms(
  name: string,
  weights: Readonly<Record<string, number>> = {},
): readonly RewardTerm[] {
  const terms = termsOf(presetNamed(name).terms);
  for (const own of Object.keys(weights)) {
    if (terms.some(({ reward }) => reward.name === own)) continue;
    const known = terms.map(({ reward }) => reward.name).join(', ');
    throw new ConfigError('reward.weights', `${name} has no term "${own}". Known: ${known}.`);
  }
  return terms.map(({ reward, weight }) => ({ reward, weight: weights[reward.name] ?? weight }));
}
