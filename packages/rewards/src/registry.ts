/** All rewards, verifiers, judges, presets and detectors by name. */
import { defineRegistry, type Registry } from '@saccade/core';
import * as detectorCatalog from './audit/catalog.ts';
import type { Detector } from './audit.ts';
import type { RewardUnit } from './define-reward.ts';
import type { VerifierUnit } from './define-verifier.ts';
import type { Judge } from './judge.ts';
import * as judgeCatalog from './judges/catalog.ts';
import { type RewardPreset, type TermSettings, termsOf } from './preset.ts';
import * as presetCatalog from './presets/catalog.ts';
import * as rewardCatalog from './rewards/catalog.ts';
import type { RewardTerm } from './score.ts';
import * as verifierCatalog from './verifiers/catalog.ts';

/**
 * The reward terms by name. `rewards.get('repetition').with({ moderateWords: 4 })` is the term
 * with another setting.
 */
export const rewards: Registry<RewardUnit> = defineRegistry<RewardUnit>('reward', rewardCatalog);

/** The verifiers that a run can choose by name in the slot `verifier`. */
export const verifiers: Registry<VerifierUnit> = defineRegistry<VerifierUnit>(
  'verifier',
  verifierCatalog,
);

/** The judges by name: questions with their grades, without a model. */
export const judges: Registry<Judge<never>> = defineRegistry<Judge<never>>('judge', judgeCatalog);

/**
 * The rewards of published systems, by name. `presetNamed` also knows `codevision/paper` and
 * `pyvision-rl`.
 */
export const presets: Registry<RewardPreset> = defineRegistry<RewardPreset>(
  'reward preset',
  presetCatalog,
);

/** The audit's detectors, by name. */
export const detectors: Registry<Detector> = defineRegistry<Detector>('detector', detectorCatalog);

/** Other names of presets: that of the whole system, which its algorithm has too. */
const otherNames: Readonly<Record<string, string>> = { 'pyvision-rl': 'pyvision' };

/**
 * A preset by name: `codevision` as the paper describes it, `codevision/code` as its public code
 * computes it. `codevision/paper` is the paper's, too.
 *
 * @throws ConfigError naming the known presets
 */
export function presetNamed(name: string): RewardPreset {
  const plain = name.replace(/\/paper$/, '');
  const [base = '', ...rest] = plain.split('/');
  return presets.get([otherNames[base] ?? base, ...rest].join('/'));
}

/**
 * The terms of a preset.
 *
 * @param settings by the term's name: its weight, or an object with `weight` and its own settings
 * @throws ConfigError naming the field, what came and what was expected
 */
export function presetTerms(name: string, settings: TermSettings = {}): readonly RewardTerm[] {
  return termsOf(presetNamed(name), settings);
}
