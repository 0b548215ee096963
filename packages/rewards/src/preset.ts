/** The reward of a published system: weighted terms, with every number's origin. */
import type { Constant, Provenance } from './provenance.ts';
import { sourced } from './provenance.ts';
import type { AnyReward } from './reward.ts';
import type { RewardTerm } from './score.ts';

export interface PresetTerm {
  readonly reward: AnyReward;
  readonly weight: Constant<number>;
}

export type PresetVariant = 'paper' | 'code';

/** As the paper describes it, and as its public code has it. */
export interface RewardPreset {
  readonly name: string;
  readonly paper: string;
  /** One sentence, or the equation. */
  readonly description: string;
  readonly variants: Readonly<Record<PresetVariant, readonly PresetTerm[]>>;
  /** What the terms read of a task's metadata, or of judges, and where code and paper part. */
  readonly notes: readonly string[];
}

export function term(reward: AnyReward, weight: number, from: Provenance): PresetTerm {
  return { reward, weight: sourced(weight, from) };
}

/** The terms as scoring takes them. */
export function termsOf(terms: readonly PresetTerm[]): readonly RewardTerm[] {
  return terms.map(({ reward, weight }) => ({ reward, weight: weight.value }));
}
