/** Every setting an algorithm can have: what it means, its kind and its range. */
import { ConfigError } from '@saccade/core';
import * as aggregationCatalog from './aggregations/catalog.ts';
import type { AlgorithmSettings } from './algorithm.ts';
import { rejectionNames } from './corrections/rejection.ts';
import * as klCatalog from './kl/catalog.ts';
import { unitNames } from './unit-names.ts';

export interface SettingDefinition {
  readonly meaning: string;
  /** The words it can be; a number or a flag otherwise, as its default is. */
  readonly choices?: readonly string[];
  readonly min?: number;
  readonly max?: number;
}

const kls = unitNames(klCatalog);
const aggregationNames = unitNames(aggregationCatalog);

/** By name. A composition of one's own may have settings that are not here. */
export const settingDefinitions: Readonly<Record<string, SettingDefinition>> = {
  clipLow: { meaning: 'ε_low: room below a ratio of 1', min: 0 },
  clipHigh: { meaning: 'ε_high: room above a ratio of 1', min: 0 },
  dualClip: { meaning: 'c: where A < 0 the ratio counts as at most this; 0 for no bound', min: 0 },
  clipBounds: {
    meaning: 'whether clipLow and clipHigh are distances from 1, or clipHigh the bound itself',
    choices: ['relative', 'absolute'],
  },
  ratioCap: { meaning: 'constant weights are at most this', min: 0 },
  divergence: {
    meaning: 'what the trust region is measured in',
    choices: ['total-variation', 'kl'],
  },
  temperaturePositive: { meaning: 'τ of the gate where A > 0', min: 0 },
  temperatureNegative: { meaning: 'τ of the gate where A ≤ 0', min: 0 },
  quadraticCoefficient: { meaning: 'β of the squared log-ratio', min: 0 },
  covarianceShare: { meaning: 'share of the tokens that are chosen by covariance', min: 0, max: 1 },
  covarianceLow: { meaning: 'lower bound of the covariance of candidates' },
  covarianceHigh: { meaning: 'upper bound of the covariance of candidates' },
  covarianceSeed: { meaning: 'seed of the draw among the candidates', min: 0 },
  covarianceCoefficient: { meaning: 'weight of the pull on the tokens chosen', min: 0 },
  scale: {
    meaning: 'whose standard deviation divides the rewards',
    choices: ['none', 'group', 'batch'],
  },
  stdEpsilon: { meaning: 'added to standard deviations', min: 0 },
  stdDof: { meaning: 'standard deviations have denominator n − this', min: 0, max: 1 },
  singleton: { meaning: 'what a group of one gets', choices: ['zero', 'reward'] },
  isStandardised: { meaning: 'whether advantages are standardised once more over the sequences' },
  isWhitened: { meaning: 'whether advantages are whitened over the tokens of the step' },
  gamma: { meaning: 'γ: discount per token', min: 0, max: 1 },
  lambda: { meaning: 'λ of generalised advantage estimation', min: 0, max: 1 },
  valueClip: {
    meaning: 'values count as at most this far from the old ones; 0 for no bound',
    min: 0,
  },
  valueCoefficient: { meaning: 'weight of the value loss', min: 0 },
  turnDiscount: { meaning: 'discount per turn', min: 0, max: 1 },
  turnWeight: { meaning: 'weight of the advantage of turns' },
  zeroTail: { meaning: 'no baseline where only one trajectory of the group is left' },
  ratio: {
    meaning: 'what the importance ratio is of',
    choices: [
      'token',
      'sequence',
      'sequence-sum',
      'sequence-straight-through',
      'geometric-mean',
      'decoupled',
    ],
  },
  maxLogRatio: { meaning: 'log-ratios are held within ± this before exp; 0 for no bound', min: 0 },
  behaviourCap: {
    meaning: 'weight above which the decoupled ratio drops a token; 0 for none',
    min: 0,
  },
  aggregation: { meaning: 'how tokens add up', choices: aggregationNames },
  fixedLength: { meaning: 'the constant length of the aggregation "fixed-length", tokens', min: 0 },
  emptySequences: {
    meaning: 'whether sequences without a token that trains count in means over sequences',
    choices: ['skip', 'count'],
  },
  lengthEpsilon: { meaning: 'added to counts in means over tokens', min: 0 },
  kl: {
    meaning: 'estimate of KL; + gives it the gradient of k2',
    choices: [...kls, ...kls.filter((name) => name !== 'k2').map((name) => `${name}+`)],
  },
  klCoefficient: { meaning: 'β: weight of KL to the reference policy', min: 0 },
  klPlace: { meaning: 'where KL is taken off', choices: ['loss', 'reward'] },
  klImportance: { meaning: 'whether KL in the loss is weighted with the ratio' },
  entropyCoefficient: { meaning: 'weight of the entropy bonus', min: 0 },
  klAggregation: {
    meaning: 'how KL adds up: as the surrogate does, or otherwise',
    choices: ['loss', ...aggregationNames],
  },
  entropyAggregation: {
    meaning: 'how entropies add up: as the surrogate does, or otherwise',
    choices: ['loss', ...aggregationNames],
  },
  surrogate: {
    meaning: 'the plain policy gradient, for one update per step, or the clipped surrogate',
    choices: ['log-probability', 'clipped'],
  },
  topEntropyShare: { meaning: 'share of the tokens, by entropy, that train', min: 0, max: 1 },
  correction: {
    meaning: 'what is done with importance weights from sampler to trainer',
    choices: ['none', 'truncate', 'mask'],
  },
  correctionLevel: { meaning: 'what those weights are of', choices: ['token', 'sequence'] },
  correctionLow: { meaning: 'lower bound of those weights', min: 0 },
  correctionHigh: { meaning: 'upper bound of those weights', min: 0 },
  correctionMaxLogRatio: { meaning: 'their logarithms are held within ± this; 0 for none', min: 0 },
  correctionNormalised: { meaning: 'whether those weights are divided by their mean' },
  rejection: {
    meaning: 'the divergence of sampler and trainer by which tokens or sequences are left out',
    choices: ['none', ...rejectionNames],
  },
  rejectionLow: { meaning: 'its lower bound, a ratio (k1 only); 0 for 1/rejectionHigh', min: 0 },
  rejectionHigh: { meaning: 'its upper bound: a ratio for k1, else nats', min: 0 },
};

/** The settings every algorithm has, at defaults that change nothing. */
export const sharedSettings = {
  ratio: 'token',
  maxLogRatio: 20,
  behaviourCap: 0,
  aggregation: 'token-mean',
  fixedLength: 0,
  emptySequences: 'skip',
  lengthEpsilon: 0,
  kl: 'k3',
  klCoefficient: 0,
  klPlace: 'loss',
  klImportance: false,
  klAggregation: 'loss',
  entropyCoefficient: 0,
  entropyAggregation: 'loss',
  topEntropyShare: 1,
  correction: 'none',
  correctionLevel: 'token',
  correctionLow: 0,
  correctionHigh: 2,
  correctionMaxLogRatio: 20,
  correctionNormalised: false,
  rejection: 'none',
  rejectionLow: 0,
  rejectionHigh: 2,
};

export type SharedSettings = typeof sharedSettings;

/**
 * Checks changes against the settings an algorithm has.
 *
 * @throws ConfigError for an unknown setting (listing the known), a wrong type, a value out of range
 */
export function checkSettings(
  name: string,
  settings: AlgorithmSettings,
  changes: AlgorithmSettings,
): void {
  for (const [setting, value] of Object.entries(changes)) {
    const present = settings[setting];
    const path = `algorithm.${setting}`;
    if (present === undefined) {
      throw new ConfigError(
        path,
        `${name} has no setting "${setting}". Known: ${Object.keys(settings).sort().join(', ')}.`,
      );
    }
    const { choices, min, max } = settingDefinitions[setting] ?? { meaning: '' };
    if (typeof value !== typeof present) {
      throw new ConfigError(
        path,
        `${setting} must be a ${typeof present} such as ${present}, is ${JSON.stringify(value)}.`,
      );
    }
    if (typeof value === 'string' && choices !== undefined && !choices.includes(value)) {
      throw new ConfigError(
        path,
        `There is no ${setting} "${value}". Known: ${choices.join(', ')}.`,
      );
    }
    if (typeof value !== 'number') continue;
    if (!Number.isFinite(value)) {
      throw new ConfigError(path, `${setting} must be a finite number, is ${value}.`);
    }
    if (min !== undefined && value < min) {
      throw new ConfigError(path, `${setting} must be at least ${min}, is ${value}.`);
    }
    if (max !== undefined && value > max) {
      throw new ConfigError(path, `${setting} must be at most ${max}, is ${value}.`);
    }
  }
}
