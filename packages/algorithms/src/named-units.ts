/** Finds the units that settings name. */
import { ConfigError } from '@saccade/core';
import * as aggregationCatalog from './aggregations/catalog.ts';
import type { AlgorithmSettings, TokenBatch } from './algorithm.ts';
import type { Aggregation, Choices, KlEstimate, Ratio } from './choices.ts';
import type { CorrectionOptions } from './correction.ts';
import { checkWeightBounds } from './corrections/importance-weights.ts';
import { readRejection } from './corrections/rejection.ts';
import * as klCatalog from './kl/catalog.ts';
import type { LossParts } from './loss.ts';
import * as ratioCatalog from './ratios/catalog.ts';
import type { SharedSettings } from './shared-settings.ts';
import { straightThrough } from './straight-through.ts';
import { unitNamed } from './unit-names.ts';

type Maker<Unit> = ((settings: never) => Unit) & { readonly requires?: readonly string[] };

/** Everything a loss is made of. */
export function lossParts(
  settings: AlgorithmSettings,
  shared: SharedSettings,
  { surrogate, selectors, value }: Choices,
): LossParts {
  const isKlInLoss = shared.klPlace === 'loss' && shared.klCoefficient !== 0;
  const needed: (readonly [keyof TokenBatch, string])[] = [];
  if (isKlInLoss) needed.push(['refLogprobs', `klCoefficient is ${shared.klCoefficient}`]);
  if (shared.entropyCoefficient !== 0) {
    needed.push(['entropy', `entropyCoefficient is ${shared.entropyCoefficient}`]);
  }
  if (readsSampler(shared)) needed.push(['rolloutLogprobs', `ratio is "${shared.ratio}"`]);
  if (shared.topEntropyShare < 1) {
    needed.push(['marks', `topEntropyShare is ${shared.topEntropyShare}`]);
  }
  if (shared.offPolicyThreshold > 0) {
    needed.push(['marks', `offPolicyThreshold is ${shared.offPolicyThreshold}`]);
  }
  if (selectors && selectors.length > 0) needed.push(['marks', 'this algorithm selects tokens']);
  if (value) {
    for (const input of ['values', 'oldValues', 'returns'] as const) {
      needed.push([input, 'this algorithm trains a value function']);
    }
  }
  const named = (name: string): Aggregation =>
    unitNamed<Maker<Aggregation>>('aggregation', aggregationCatalog, name)(shared as never);
  return {
    ratio: ratioNamed(settings, shared),
    surrogate,
    aggregation: named(shared.aggregation),
    kl: klNamed(shared.kl),
    klCoefficient: isKlInLoss ? shared.klCoefficient : 0,
    klImportance: shared.klImportance,
    entropyCoefficient: shared.entropyCoefficient,
    ...(shared.klAggregation !== 'loss' && { klAggregation: named(shared.klAggregation) }),
    ...(shared.entropyAggregation !== 'loss' && {
      entropyAggregation: named(shared.entropyAggregation),
    }),
    ...(value && { value }),
    needed,
  };
}

function ratioNamed(settings: AlgorithmSettings, shared: SharedSettings): Ratio {
  const make = unitNamed<Maker<Ratio>>('ratio', ratioCatalog, shared.ratio);
  const missing = make.requires?.filter((name) => typeof settings[name] !== 'number') ?? [];
  if (missing.length > 0) {
    throw new ConfigError(
      'ratio',
      `The ratio "${shared.ratio}" needs ${missing.join(' and ')}, which this algorithm does not ` +
        'have. Choose another ratio.',
    );
  }
  return make({ ...shared, ...settings } as never);
}

/** Whether the ratio compares with the engine that sampled. */
function readsSampler({ ratio }: SharedSettings): boolean {
  return ratio === 'decoupled' || ratio.startsWith('behavior');
}

/** An estimate by name; `+` at its end gives it the gradient of k2. */
export function klNamed(name: string): KlEstimate {
  const estimate = unitNamed<KlEstimate>('kl', klCatalog, name.replace(/\+$/, ''));
  return name.endsWith('+') ? straightThrough(estimate) : estimate;
}

/** Inputs beyond rewards, log-probs and advantages. */
export function needsOf(
  shared: SharedSettings,
  { needs = [] }: Choices,
  { needed }: LossParts,
): readonly string[] {
  // Marks come from the algorithm itself, and returns and old values from an earlier stage.
  const own = needed.map(([input]) => input).filter((input) => input !== 'marks');
  const isCorrected = shared.correction !== 'none' || shared.rejection !== 'none';
  const all = new Set<string>([
    ...needs,
    ...own,
    ...(shared.klCoefficient !== 0 ? ['refLogprobs'] : []),
    ...(shared.topEntropyShare < 1 ? ['entropy'] : []),
    ...(isCorrected ? ['rolloutLogprobs'] : []),
  ]);
  for (const derived of ['oldValues', 'returns']) all.delete(derived);
  return [...all].sort();
}

/**
 * The correction's weights and criteria; undefined where there is none.
 *
 * @throws ConfigError for bounds that leave nothing, and for weights that would count twice
 */
export function correctionOptions(shared: SharedSettings): CorrectionOptions | undefined {
  const [low, high] = [shared.correctionLow, shared.correctionHigh];
  checkWeightBounds({ low, high });
  const rejection = readRejection(shared.rejection, {
    low: shared.rejectionLow,
    high: shared.rejectionHigh,
  });
  const { correction } = shared;
  if (correction === 'none') return rejection.length > 0 ? { rejection } : undefined;
  checkOneCorrection(shared);
  return {
    weights: {
      level: shared.correctionLevel,
      mode: correction,
      low,
      high,
      maxLogRatio: shared.correctionMaxLogRatio,
      isNormalized: shared.correctionNormalized,
      countEpsilon: shared.lengthEpsilon,
    },
    rejection,
  };
}

function checkOneCorrection(shared: SharedSettings): void {
  const { ratio, correction, correctionLevel } = shared;
  // The decoupled ratio allows it: there a correction is an additional bound.
  if (ratio.startsWith('behavior')) {
    throw new ConfigError(
      'correction',
      `The ratio "${ratio}" already weighs tokens back to the sampler; correction "${correction}" ` +
        'would do it again. Set correction to "none", or choose another ratio.',
    );
  }
  if (ratio === 'corrected-sequence' && correctionLevel === 'sequence') {
    throw new ConfigError(
      'correctionLevel',
      'The ratio "corrected-sequence" multiplies the weights of its tokens; a weight of the whole ' +
        'sequence would count once for each. Set correctionLevel to "token".',
    );
  }
}
