/** Reads the parity fixtures as steps, and runs an algorithm over one. */
import { readFileSync } from 'node:fs';
import type { Algorithm, AlgorithmResult, AlgorithmSettings } from './algorithm.ts';
import { batchOf, type SampledStep } from './contract-step.ts';
import { algorithms } from './registry.ts';

/** One step in units of 1/256, as parity/inputs.py writes it. */
interface FixtureInput {
  readonly lengths: readonly number[];
  readonly groups: readonly number[];
  readonly mask: string;
  readonly rewards: readonly number[];
  readonly accuracy: readonly number[];
  readonly greedy: readonly number[];
  readonly turnCounts: readonly number[];
  readonly turns: readonly number[];
  readonly turnRewards: readonly number[];
  readonly logprobs: readonly number[];
  readonly oldLogprobs: readonly number[];
  readonly rolloutLogprobs: readonly number[];
  readonly refLogprobs: readonly number[];
  readonly entropy: readonly number[];
  readonly sumSquaredProbs: readonly number[];
  readonly values: readonly number[];
  readonly currentValues: readonly number[];
}

export interface Fixture {
  readonly input: FixtureInput;
  readonly loss: number;
  readonly advantages: readonly number[];
  readonly gradLogprobs: readonly number[];
  readonly gradEntropy?: readonly number[];
  readonly gradValues?: readonly number[];
}

export interface ParityCase {
  readonly name: string;
  readonly algorithm: string;
  readonly profile: string;
  readonly settings: AlgorithmSettings;
  readonly fixtures: readonly Fixture[];
}

const file = new URL('../parity/fixtures.json', import.meta.url);

export function readCases(): readonly ParityCase[] {
  return JSON.parse(readFileSync(file, 'utf8'));
}

export function algorithmOf({ algorithm, profile, settings }: ParityCase): Algorithm {
  return algorithms.get(algorithm).profile(profile).with(settings);
}

/** All stages, as a trainer runs them. */
export function resultOf(
  algorithm: Algorithm,
  input: FixtureInput,
): AlgorithmResult<Float64Array> & { readonly advantages: Float64Array } {
  const { batch, counts } = batchOf(algorithm, stepOf(input));
  return { ...algorithm.loss(batch, counts), advantages: batch.advantages };
}

function stepOf(input: FixtureInput): SampledStep {
  const scaled = (values: readonly number[]): Float64Array =>
    Float64Array.from(values, (value) => value / 256);
  return {
    sequenceOffsets: offsetsOf(input.lengths),
    groups: Int32Array.from(input.groups),
    lossMask: Float64Array.from(input.mask, Number),
    rewards: scaled(input.rewards),
    accuracy: scaled(input.accuracy),
    greedy: scaled(input.greedy),
    sequenceAdvantages: new Float64Array(input.groups.length),
    turns: Int32Array.from(input.turns),
    turnOffsets: offsetsOf(input.turnCounts),
    turnRewards: scaled(input.turnRewards),
    logprobs: scaled(input.logprobs),
    oldLogprobs: scaled(input.oldLogprobs),
    rolloutLogprobs: scaled(input.rolloutLogprobs),
    refLogprobs: scaled(input.refLogprobs),
    entropy: scaled(input.entropy),
    sumSquaredProbs: scaled(input.sumSquaredProbs),
    values: scaled(input.values),
    currentValues: scaled(input.currentValues),
  };
}

function offsetsOf(lengths: readonly number[]): Int32Array {
  const offsets = Int32Array.from([0, ...lengths]);
  for (let s = 1; s < offsets.length; s++) {
    offsets[s] = (offsets[s] as number) + (offsets[s - 1] as number);
  }
  return offsets;
}
