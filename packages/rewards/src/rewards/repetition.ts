/** VISTA-R1's penalty for text that repeats itself. */
import { type Sourced, sourced, type Variants, valuesOf } from '../provenance.ts';
import type { Reward } from '../reward.ts';
import { measureRepetition, type Repetition } from './measure-repetition.ts';
import { modelTexts } from './model-text.ts';

export interface RepetitionOptions {
  readonly extreme: number;
  readonly severe: number;
  readonly moderate: number;
  /** Runs of one letter or digit, of one word, repetitions of a phrase, per severity. */
  readonly extremeCharacters: number;
  readonly severeCharacters: number;
  readonly moderateCharacters: number;
  readonly moderatePunctuation: number;
  readonly extremeWords: number;
  readonly severeWords: number;
  readonly moderateWords: number;
  readonly extremePhrases: number;
  readonly severePhrases: number;
  readonly moderatePhrases: number;
  /** Words that repeated phrases cover, and their share of all words. */
  readonly extremeCover: number;
  readonly severeCover: number;
  readonly extremeShare: number;
  readonly severeShare: number;
}

const thresholds: Omit<Sourced<RepetitionOptions>, 'extreme' | 'severe' | 'moderate'> = {
  extremeCharacters: sourced(250, 'reconstructed'),
  severeCharacters: sourced(100, 'reconstructed'),
  moderateCharacters: sourced(40, 'reconstructed'),
  moderatePunctuation: sourced(250, 'reconstructed'),
  extremeWords: sourced(40, 'reconstructed'),
  severeWords: sourced(15, 'reconstructed'),
  moderateWords: sourced(6, 'reconstructed'),
  extremePhrases: sourced(16, 'reconstructed'),
  severePhrases: sourced(8, 'reconstructed'),
  moderatePhrases: sourced(4, 'reconstructed'),
  extremeCover: sourced(120, 'reconstructed'),
  severeCover: sourced(60, 'reconstructed'),
  extremeShare: sourced(0.5, 'reconstructed'),
  severeShare: sourced(0.3, 'reconstructed'),
};

const penalties: Pick<Sourced<RepetitionOptions>, 'extreme' | 'severe' | 'moderate'> = {
  extreme: sourced(-3, 'paper'),
  severe: sourced(-2, 'paper'),
  moderate: sourced(-1.5, 'paper'),
};

/** The RL code is not published: both variants are the same. */
export const repetitionVariants: Variants<RepetitionOptions> = {
  paper: { ...penalties, ...thresholds },
  code: { ...penalties, ...thresholds },
};

/**
 * The worst repetition of any turn.
 *
 *   R_rep ∈ {−3 extreme, −2 severe, −1.5 moderate, 0 none}
 *
 * VISTA-R1, arXiv:2511.19773, §5.2, which gives the four values and that contiguous characters,
 * tokens and phrases are looked for. The thresholds are reconstructed: ordinary paragraphs, tables,
 * rules of dashes and tool calls are to give 0; the share of 0.3 is Thyme's.
 */
export function repetitionWith(constants: Sourced<RepetitionOptions>): Reward {
  const options = valuesOf(constants);
  return {
    name: 'repetition',
    scope: 'trajectory',
    paper: 'VISTA-R1, arXiv:2511.19773, §5.2',
    range: [options.extreme, 0],
    constants: { ...constants },
    with: (changed) => repetitionWith({ ...constants, ...changed } as Sourced<RepetitionOptions>),
    score: (trajectory) =>
      Math.min(0, ...modelTexts(trajectory).map((text) => severityOf(text, options))),
  };
}

/** R_rep of one text. */
export function severityOf(text: string, options: RepetitionOptions): number {
  const found: Repetition = measureRepetition(text);
  const { characters, punctuation, words, phrases, covered, share } = found;
  const isLong = phrases >= options.moderatePhrases;
  if (
    characters >= options.extremeCharacters ||
    words >= options.extremeWords ||
    phrases >= options.extremePhrases ||
    (isLong && covered >= options.extremeCover && share >= options.extremeShare)
  ) {
    return options.extreme;
  }
  if (
    characters >= options.severeCharacters ||
    words >= options.severeWords ||
    phrases >= options.severePhrases ||
    (isLong && covered >= options.severeCover && share >= options.severeShare)
  ) {
    return options.severe;
  }
  const isModerate =
    characters >= options.moderateCharacters ||
    punctuation >= options.moderatePunctuation ||
    words >= options.moderateWords ||
    isLong;
  return isModerate ? options.moderate : 0;
}

export const repetition: Reward = repetitionWith(repetitionVariants.paper);
