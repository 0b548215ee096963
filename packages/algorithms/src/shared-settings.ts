/** The settings of every algorithm: units chosen by name, and the settings of those units. */
import { choice, flag, quantity } from '@saccade/core/settings';
import * as aggregationCatalog from './aggregations/catalog.ts';
import { importanceWeightSettings } from './corrections/importance-weights.ts';
import { rejectionSettings } from './corrections/rejection.ts';
import { LARGEST } from './fields.ts';
import * as klCatalog from './kl/catalog.ts';
import * as ratioCatalog from './ratios/catalog.ts';
import { offPolicySequences } from './selectors/off-policy-sequences.ts';
import { topEntropy } from './selectors/top-entropy.ts';
import { rewardPlacement } from './token-rewards.ts';
import type { ValuesOf } from './unit.ts';
import { unitNames } from './unit-names.ts';

/** The type of a non-empty list, which zod requires. */
function words(names: readonly string[]): readonly [string, ...string[]] {
  const [first = '', ...rest] = names;
  return [first, ...rest];
}

const aggregations = unitNames(aggregationCatalog);
const kls = unitNames(klCatalog);

const klSettings = {
  kl: choice(words([...kls, ...kls.filter((name) => name !== 'k2').map((name) => `${name}+`)]), {
    default: 'k3',
    about: 'Estimate of KL; + gives it the gradient of k2.',
  }),
  klCoefficient: quantity({
    min: 0,
    max: LARGEST,
    default: 0,
    unit: 'factor',
    about: 'β: weight of KL to the reference policy.',
  }),
  klPlace: choice(['loss', 'reward'], {
    default: 'loss',
    about: 'Whether KL is added to the loss or subtracted from the reward.',
  }),
  klImportance: flag({
    default: false,
    about: 'Whether KL in the loss is weighted with the ratio.',
  }),
  klAggregation: choice(words(['loss', ...aggregations]), {
    default: 'loss',
    about: 'Aggregation of KL in the loss: the same as the surrogate’s ("loss"), or another.',
  }),
};

const entropySettings = {
  entropyCoefficient: quantity({
    min: -LARGEST,
    max: LARGEST,
    default: 0,
    unit: 'factor',
    about: 'Weight of the entropy bonus.',
  }),
  entropyAggregation: choice(words(['loss', ...aggregations]), {
    default: 'loss',
    about: 'Aggregation of entropies: the same as the surrogate’s ("loss"), or another.',
  }),
};

/**
 * The fields that every algorithm has besides its own: ratio, aggregation, KL, entropy, selection
 * of tokens, correction and rejection. A field has an effect only while its unit is chosen.
 */
export const sharedSettings = {
  ratio: choice(words(unitNames(ratioCatalog, 'ratio')), {
    default: 'token',
    about: 'The importance ratio.',
  }),
  ...ratioCatalog.tokenRatio.settings,
  ...ratioCatalog.decoupledRatio.settings,
  aggregation: choice(words(aggregations), {
    default: 'token-mean',
    about: 'Aggregation of the tokens’ losses.',
  }),
  ...aggregationCatalog.fixedLength.settings,
  ...aggregationCatalog.sequenceMeanTokenMean.settings,
  ...klSettings,
  ...entropySettings,
  ...topEntropy.settings,
  ...offPolicySequences.settings,
  correction: choice(['none', 'truncate', 'mask'], {
    default: 'none',
    about: 'How importance weights from sampler to trainer are bounded.',
  }),
  ...importanceWeightSettings,
  ...rejectionSettings,
  rewardPlacement,
};

/** The values of `sharedSettings`. */
export type SharedSettings = ValuesOf<typeof sharedSettings>;

/** Names of the shared settings that have an effect at these values, without those of units. */
export function sharedReads(values: SharedSettings): readonly string[] {
  const isKl = values.klCoefficient !== 0;
  const isKlInLoss = isKl && values.klPlace === 'loss';
  const isCorrected = values.correction !== 'none';
  const isRejected = values.rejection !== 'none';
  return [
    'ratio',
    'aggregation',
    'klCoefficient',
    'entropyCoefficient',
    'topEntropyShare',
    'offPolicyThreshold',
    'correction',
    'rejection',
    ...(isKl ? ['kl', 'klPlace'] : []),
    ...(isKlInLoss ? ['klImportance', 'klAggregation'] : []),
    ...(values.entropyCoefficient !== 0 ? ['entropyAggregation'] : []),
    ...(isCorrected ? Object.keys(importanceWeightSettings) : []),
    ...(isCorrected && values.correctionNormalized ? ['lengthEpsilon'] : []),
    ...(isRejected ? ['rejectionHigh'] : []),
    ...(isRejected && isKl && values.klPlace === 'reward' ? ['rewardPlacement'] : []),
    ...(values.rejection.includes('k1') ? ['rejectionLow'] : []),
  ];
}
