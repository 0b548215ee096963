/** Composes an algorithm of its own units and those that its settings name. */
import { ConfigError, nearestName, ShapeError } from '@saccade/core';
import { readSettings } from '@saccade/core/settings';
import { z } from 'zod';
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
import { checkFinite, checkGroup, checkMinibatch, checkStep } from './check-inputs.ts';
import type { Choices, Selector } from './choices.ts';
import type { Composition, SettingsWith } from './composition.ts';
import { correctionOf } from './correction.ts';
import { withKlInReward } from './kl-reward.ts';
import { lossOf, tableOf } from './loss.ts';
import { mark } from './marks.ts';
import { correctionOptions, klNamed, lossParts, needsOf } from './named-units.ts';
import { offPolicySequences } from './selectors/off-policy-sequences.ts';
import { topEntropy } from './selectors/top-entropy.ts';
import { type SharedSettings, sharedReads, sharedSettings } from './shared-settings.ts';
import { broadcast } from './token-advantages/broadcast.ts';
import { isUnitField, type SettingsShape, settingsRead, withDefault } from './unit.ts';

/**
 * Makes an algorithm from its composition.
 *
 * @throws ConfigError if a default is out of its range
 */
export function composeAlgorithm<Own extends SettingsShape>(
  composition: Composition<Own>,
): Algorithm {
  const fields: SettingsShape = { ...sharedSettings, ...composition.settings };
  return composed(composition, fields, composition.defaults ?? {});
}

/** The algorithm with the given values; the others keep their defaults. */
function composed<Own extends SettingsShape>(
  composition: Composition<Own>,
  fields: SettingsShape,
  values: Readonly<Record<string, unknown>>,
): Algorithm {
  const { name, paper, description, profiles } = composition;
  const settings = readSettings('algorithm', z.strictObject(fields), values) as SettingsWith<Own> &
    AlgorithmSettings;
  const shared = settings as unknown as SharedSettings;
  const choices = composition.choose(settings);
  const parts = lossParts(settings, shared, choices);
  const correction = correctionOptions(shared);
  const selectors = selectorsOf(shared, choices);
  const isKlInReward = shared.klPlace === 'reward' && shared.klCoefficient !== 0;
  const own = choices.tokenAdvantage ?? (isKlInReward ? choices.klTokenAdvantage : undefined);
  const tokenAdvantage = own ?? broadcast();
  const changed = (changes: AlgorithmSettings): Algorithm => {
    refuseUnknown(name, fields, changes);
    return composed(composition, fields, { ...settings, ...changes });
  };
  const schemaOf = (): z.ZodObject => z.strictObject(redefined(fields, settings));
  let schema: z.ZodObject | undefined;
  return Object.freeze({
    name,
    paper,
    description,
    settings,
    get schema() {
      schema ??= schemaOf();
      return schema;
    },
    reads: readsOf(fields, shared, choices, parts, selectors),
    signal: choices.signal ?? 'reward',
    profiles: Object.keys(profiles).sort(),
    needs: needsOf(shared, choices, parts),
    stages: [
      ...(own || isKlInReward ? (['tokenAdvantages'] as const) : []),
      ...(correction ? (['correct'] as const) : []),
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
      const known = Object.entries(changes).filter(([setting]) => setting in fields);
      return changed(Object.fromEntries(known));
    },
    groupAdvantages: (group: ScoredGroup) => {
      checkGroup(group);
      const advantages = choices.groupAdvantage(group);
      checkFinite('groupAdvantages', advantages);
      return advantages;
    },
    tokenAdvantages: (step: Step) => {
      checkStep(step);
      const placed =
        shared.rewardPlacement === 'kept' && step.rewardMask
          ? { ...step, rewardMask: step.lossMask }
          : step;
      const { kl: name, klCoefficient } = shared;
      const given = tokenAdvantage(
        isKlInReward
          ? withKlInReward(placed, {
              kl: klNamed(name),
              klCoefficient,
              mode: choices.klReward ?? 'group',
              groupAdvantage: choices.groupAdvantage,
            })
          : placed,
      );
      checkFinite('tokenAdvantages', given.advantages);
      return given;
    },
    ...(correction && { correct: checked(correctionOf(correction)) }),
    ...(selectors.length > 0 && {
      select: (minibatch: TokenBatch) => {
        checkMinibatch(minibatch);
        return marksOf(minibatch, selectors);
      },
    }),
    loss: <Floats extends FloatArray>(batch: TokenBatch<Floats>, counts: GlobalCounts) =>
      lossOf(parts, batch, counts),
    table: (batch: TokenBatch, counts: GlobalCounts) => tableOf(parts, batch, counts),
  });
}

/** @throws ConfigError naming the nearest setting and all that exist */
function refuseUnknown(name: string, fields: SettingsShape, changes: AlgorithmSettings): void {
  const unknown = Object.keys(changes).find((setting) => !Object.hasOwn(fields, setting));
  if (unknown === undefined) return;
  const known = Object.keys(fields).sort();
  const near = nearestName(unknown, known);
  throw new ConfigError(
    `algorithm.${unknown}`,
    `${name} has no setting "${unknown}". Known: ${known.join(', ')}.` +
      `${near === undefined ? '' : ` Did you mean "${near}"?`}`,
  );
}

/** The fields with the present values as defaults. */
function redefined(
  fields: SettingsShape,
  values: Readonly<Record<string, unknown>>,
): SettingsShape {
  return Object.fromEntries(
    Object.entries(fields).map(([name, field]) => [name, withDefault(field, values[name])]),
  );
}

/** Settings that a chosen unit reads, or that no unit owns. */
function readsOf(
  fields: SettingsShape,
  shared: SharedSettings,
  choices: Choices,
  parts: ReturnType<typeof lossParts>,
  selectors: readonly Selector[],
): readonly string[] {
  const units: readonly (object | undefined)[] = [
    choices.groupAdvantage,
    choices.tokenAdvantage,
    choices.surrogate,
    choices.value,
    parts.ratio,
    parts.aggregation,
    parts.klAggregation,
    parts.entropyAggregation,
    ...selectors,
  ];
  const reads = new Set([
    ...sharedReads(shared),
    ...(shared.ratio === 'geometric-mean' ? ['clipLow', 'clipHigh'] : []),
    ...units.flatMap((unit) => (unit === undefined ? [] : settingsRead(unit))),
  ]);
  for (const name of choices.unread ?? []) reads.delete(name);
  if (shared.rejection === 'none') reads.delete('rewardPlacement');
  // A field that neither a unit nor all algorithms have is the algorithm's own choice.
  const isFree = (name: string, field: z.ZodDefault): boolean =>
    !(name in sharedSettings) && !isUnitField(field);
  return Object.entries(fields)
    .filter(([name, field]) => reads.has(name) || isFree(name, field))
    .map(([name]) => name)
    .sort();
}

function selectorsOf(shared: SharedSettings, { selectors = [] }: Choices): readonly Selector[] {
  return [
    ...(shared.topEntropyShare < 1 ? [topEntropy(shared)] : []),
    ...(shared.offPolicyThreshold > 0 ? [offPolicySequences(shared)] : []),
    ...selectors,
  ];
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

function checked<Result>(work: (step: Step) => Result): (step: Step) => Result {
  return (step) => {
    checkStep(step);
    return work(step);
  };
}

/**
 * Group indices [S] of S sequences that are ordered group by group, `groupSize` each.
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
