/** Joins an algorithm's own units with those its settings name. */
import { ConfigError, ShapeError } from '@saccade/core';
import * as aggregationCatalog from './aggregations/catalog.ts';
import type {
  Algorithm,
  AlgorithmSettings,
  FloatArray,
  GlobalCounts,
  ScoredGroup,
  Selection,
  Step,
  TokenBatch,
} from './algorithm.ts';
import { checkGroup, checkStep } from './check-inputs.ts';
import type {
  Aggregation,
  Choices,
  Composition,
  KlEstimate,
  Ratio,
  Selector,
  Widened,
} from './choices.ts';
import { correctionOf } from './correction.ts';
import type { RejectionOptions } from './corrections/rejection.ts';
import * as klCatalog from './kl/catalog.ts';
import { withKlInReward } from './kl-reward.ts';
import { type LossParts, lossOf, tableOf } from './loss.ts';
import { mark } from './marks.ts';
import { decoupledRatio } from './ratios/decoupled.ts';
import { geometricMeanRatio } from './ratios/geometric-mean.ts';
import {
  sequenceRatio,
  sequenceRatioStraightThrough,
  sequenceRatioSum,
} from './ratios/sequence.ts';
import { tokenRatio } from './ratios/token.ts';
import { topEntropy } from './selectors/top-entropy.ts';
import { checkSettings, type SharedSettings, sharedSettings } from './settings.ts';
import { straightThrough } from './straight-through.ts';
import { broadcast } from './token-advantages/broadcast.ts';
import { unitNamed } from './unit-names.ts';

/**
 * An algorithm from its composition.
 *
 * @throws ConfigError if a default is out of its range
 */
export function composeAlgorithm<Settings extends AlgorithmSettings>(
  composition: Composition<Settings>,
): Algorithm {
  const { name, paper, description, settings, profiles } = composition;
  checkSettings(name, settings, settings);
  const shared: SharedSettings = { ...sharedSettings, ...settings };
  const choices = composition.choose(settings as unknown as Widened<Settings>);
  const parts = lossParts(settings, shared, choices);
  const kl = klNamed(shared.kl);
  const isKlInReward = shared.klPlace === 'reward' && shared.klCoefficient !== 0;
  const isCorrected = shared.correction !== 'none' || shared.rejection !== 'none';
  const selectors = selectorsOf(shared, choices);
  const tokenAdvantage = choices.tokenAdvantage ?? broadcast();
  const changed = (changes: AlgorithmSettings): Algorithm => {
    checkSettings(name, { ...sharedSettings, ...settings }, changes);
    return composeAlgorithm({ ...composition, settings: { ...settings, ...changes } });
  };
  return Object.freeze({
    name,
    paper,
    description,
    settings,
    profiles: Object.keys(profiles).sort(),
    needs: needsOf(shared, choices, parts),
    stages: [
      ...(choices.tokenAdvantage || isKlInReward ? (['tokenAdvantages'] as const) : []),
      ...(isCorrected ? (['correct'] as const) : []),
      ...(selectors.length > 0 ? (['select'] as const) : []),
    ],
    isRatioConstant: choices.isRatioConstant ?? false,
    with: changed,
    profile: (wanted: string) => {
      const changes = profiles[wanted];
      if (changes === undefined || !Object.hasOwn(profiles, wanted)) {
        const known = Object.keys(profiles).sort().join(', ') || 'none';
        throw new ConfigError('profile', `${name} has no profile "${wanted}". Known: ${known}.`);
      }
      const own = Object.entries(changes).filter(([setting]) => setting in settings);
      return changed(Object.fromEntries(own));
    },
    groupAdvantages: (group: ScoredGroup) => {
      checkGroup(group);
      return choices.groupAdvantage(group);
    },
    tokenAdvantages: (step: Step) => {
      checkStep(step);
      return tokenAdvantage(
        isKlInReward
          ? withKlInReward(step, kl, shared.klCoefficient, choices.groupAdvantage)
          : step,
      );
    },
    ...(isCorrected && { correct: checked(correctionOf(correctionOptions(shared))) }),
    ...(selectors.length > 0 && {
      select: (minibatch: TokenBatch) => marksOf(minibatch, selectors),
    }),
    loss: <Floats extends FloatArray>(batch: TokenBatch<Floats>, counts: GlobalCounts) =>
      lossOf(parts, batch, counts),
    table: (batch: TokenBatch, counts: GlobalCounts) => tableOf(parts, batch, counts),
  });
}

function lossParts(
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
  if (shared.ratio === 'decoupled') needed.push(['rolloutLogprobs', 'ratio is "decoupled"']);
  if (shared.topEntropyShare < 1) {
    needed.push(['marks', `topEntropyShare is ${shared.topEntropyShare}`]);
  }
  if (selectors && selectors.length > 0) needed.push(['marks', 'this algorithm selects tokens']);
  if (value) {
    for (const input of ['values', 'oldValues', 'returns'] as const) {
      needed.push([input, 'this algorithm trains a value function']);
    }
  }
  return {
    ratio: ratioNamed(settings, shared),
    surrogate,
    aggregation: aggregationNamed(shared, shared.aggregation),
    kl: klNamed(shared.kl),
    klCoefficient: isKlInLoss ? shared.klCoefficient : 0,
    klImportance: shared.klImportance,
    entropyCoefficient: shared.entropyCoefficient,
    ...(shared.klAggregation !== 'loss' && {
      klAggregation: aggregationNamed(shared, shared.klAggregation),
    }),
    ...(shared.entropyAggregation !== 'loss' && {
      entropyAggregation: aggregationNamed(shared, shared.entropyAggregation),
    }),
    ...(value && { value }),
    needed,
  };
}

/** Inputs beyond rewards, log-probs and advantages. */
function needsOf(
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

function ratioNamed(settings: AlgorithmSettings, shared: SharedSettings): Ratio {
  const { ratio, maxLogRatio, behaviourCap, lengthEpsilon } = shared;
  switch (ratio) {
    case 'token':
      return tokenRatio({ maxLogRatio });
    case 'sequence':
      return sequenceRatio({ maxLogRatio });
    case 'sequence-sum':
      return sequenceRatioSum();
    case 'sequence-straight-through':
      return sequenceRatioStraightThrough({ maxLogRatio });
    case 'decoupled':
      return decoupledRatio({ maxLogRatio, behaviourCap });
    default: {
      const { clipLow, clipHigh } = settings;
      if (typeof clipLow !== 'number' || typeof clipHigh !== 'number') {
        throw new ConfigError(
          'ratio',
          'The ratio "geometric-mean" is clipped token by token, and this algorithm has no ' +
            'clipLow and clipHigh. Choose another ratio.',
        );
      }
      return geometricMeanRatio({ clipLow, clipHigh, lengthEpsilon });
    }
  }
}

function aggregationNamed(shared: SharedSettings, name: string): Aggregation {
  const { lengthEpsilon, fixedLength, emptySequences } = shared;
  const options = { lengthEpsilon, fixedLength, countEmpty: emptySequences === 'count' };
  return unitNamed<(given: typeof options) => Aggregation>(
    'aggregation',
    aggregationCatalog,
    name,
  )(options);
}

/** An estimate by name; `+` at its end gives it the gradient of k2. */
function klNamed(name: string): KlEstimate {
  const estimate = unitNamed<KlEstimate>('kl', klCatalog, name.replace(/\+$/, ''));
  return name.endsWith('+') ? straightThrough(estimate) : estimate;
}

function selectorsOf(shared: SharedSettings, { selectors = [] }: Choices): readonly Selector[] {
  const { topEntropyShare } = shared;
  return topEntropyShare < 1 ? [topEntropy({ topEntropyShare }), ...selectors] : selectors;
}

function marksOf(minibatch: TokenBatch, selectors: readonly Selector[]): Selection {
  const marks = new Uint8Array(minibatch.lossMask.length);
  for (const selector of selectors) selector(minibatch, marks);
  let selectedTokens = 0;
  minibatch.lossMask.forEach((mask, t) => {
    if (((marks[t] as number) & mark.lowEntropy) === 0) selectedTokens += mask;
  });
  return { marks, selectedTokens };
}

function correctionOptions(shared: SharedSettings): Parameters<typeof correctionOf>[0] {
  return {
    ...(shared.correction !== 'none' && {
      weights: {
        level: shared.correctionLevel as 'token' | 'sequence',
        mode: shared.correction as 'truncate' | 'mask',
        low: shared.correctionLow,
        high: shared.correctionHigh,
        maxLogRatio: shared.correctionMaxLogRatio,
        isNormalised: shared.correctionNormalised,
        countEpsilon: shared.lengthEpsilon,
      },
    }),
    ...(shared.rejection !== 'none' && {
      rejection: {
        statistic: shared.rejection as RejectionOptions['statistic'],
        low: shared.rejectionLow,
        high: shared.rejectionHigh,
      },
    }),
  };
}

function checked<Result>(work: (step: Step) => Result): (step: Step) => Result {
  return (step) => {
    checkStep(step);
    return work(step);
  };
}

/**
 * [S] the group of each of S sequences that lie group after group.
 *
 * @throws ShapeError if the group size is not a whole number above 0 that divides S
 */
export function groupsOfSize(sequences: number, groupSize: number): Int32Array {
  if (!(Number.isInteger(groupSize) && groupSize > 0 && sequences % groupSize === 0)) {
    throw new ShapeError(
      `groupSize must be a whole number above 0 that divides the ${sequences} sequences, ` +
        `is ${groupSize}. Give a group for each sequence instead if groups differ in size.`,
    );
  }
  return Int32Array.from({ length: sequences }, (_, s) => Math.floor(s / groupSize));
}
