/** The settings every algorithm has: units chosen by name, and what those units read. */
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

/** A list that is known not to be empty, as zod wants it. */
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
    about: 'Whether KL is added to the loss or taken off the reward.',
  }),
  klImportance: flag({
    default: false,
    about: 'Whether KL in the loss is weighted with the ratio.',
  }),
  klAggregation: choice(words(['loss', ...aggregations]), {
    default: 'loss',
    about: 'How KL in the loss adds up: as the surrogate does, or otherwise.',
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
    about: 'How entropies add up: as the surrogate does, or otherwise.',
  }),
};

export const sharedSettings = {
  ratio: choice(words(unitNames(ratioCatalog, 'ratio')), {
    default: 'token',
    about: 'The importance ratio.',
  }),
  ...ratioCatalog.tokenRatio.settings,
  ...ratioCatalog.decoupledRatio.settings,
  aggregation: choice(words(aggregations), {
    default: 'token-mean',
    about: 'How tokens add up to the loss.',
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

export type SharedSettings = ValuesOf<typeof sharedSettings>;

/** Names of shared settings that have an effect at these values, units' own aside. */
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
    ...(isCorrected && values.correctionNormalised ? ['lengthEpsilon'] : []),
    ...(isRejected ? ['rejectionHigh'] : []),
    ...(isRejected && isKl && values.klPlace === 'reward' ? ['rewardPlacement'] : []),
    ...(values.rejection.includes('k1') ? ['rejectionLow'] : []),
  ];
}
