/** VISTA-R1's penalty for text that repeats itself. */
import { count, quantity, type SettingsOf } from '@saccade/core/settings';
import { z } from 'zod';
import { defineReward } from '../define-reward.ts';
import { measureRepetition } from './measure-repetition.ts';
import { modelTexts } from './model-text.ts';

const penalty = (preset: number, about: string) =>
  quantity({ min: -100, max: 0, default: preset, unit: 'reward', about });
const threshold = (preset: number, unit: string, about: string) =>
  count({ min: 1, max: 1_000_000, default: preset, unit, about });
const share = (preset: number, about: string) =>
  quantity({ min: 0, max: 1, default: preset, unit: 'fraction', about });
const characters = (preset: number, severity: string) =>
  threshold(preset, 'characters', `Run of one letter or digit that is ${severity}.`);
const words = (preset: number, severity: string) =>
  threshold(preset, 'words', `Run of one word that is ${severity}.`);
const phrases = (preset: number, severity: string) =>
  threshold(preset, 'copies', `Copies of a phrase in a row that are ${severity}.`);
const cover = (preset: number, severity: string) =>
  threshold(preset, 'words', `Words in repeated phrases that are ${severity}, with their share.`);

const settings = z.strictObject({
  extreme: penalty(-3, 'Value of extreme repetition.'),
  severe: penalty(-2, 'Value of severe repetition.'),
  moderate: penalty(-1.5, 'Value of moderate repetition.'),
  extremeCharacters: characters(250, 'extreme'),
  severeCharacters: characters(100, 'severe'),
  moderateCharacters: characters(40, 'moderate'),
  moderatePunctuation: threshold(250, 'characters', 'Run of one other mark that is moderate.'),
  extremeWords: words(40, 'extreme'),
  severeWords: words(15, 'severe'),
  moderateWords: words(6, 'moderate'),
  extremePhrases: phrases(16, 'extreme'),
  severePhrases: phrases(8, 'severe'),
  moderatePhrases: phrases(4, 'moderate'),
  extremeCover: cover(120, 'extreme'),
  severeCover: cover(60, 'severe'),
  extremeShare: share(0.5, 'Share of all words in repeated phrases that is extreme.'),
  severeShare: share(0.3, 'Share of all words in repeated phrases that is severe.'),
  shortestPhrase: threshold(3, 'words', 'Fewest words of a phrase.'),
  longestPhrase: count({
    min: 1,
    max: 200,
    default: 40,
    unit: 'words',
    about: 'Most words of a phrase; the time that it takes grows with it.',
  }),
  coveringCopies: threshold(3, 'copies', 'Copies from which a phrase covers its words.'),
});

export type RepetitionSettings = SettingsOf<typeof settings>;

/**
 * The worst repetition of any turn.
 *
 *   R_rep ∈ {−3 extreme, −2 severe, −1.5 moderate, 0 none}
 *
 * VISTA-R1, arXiv:2511.19773, §5.2, which gives the four values and says that contiguous characters,
 * tokens and phrases are detected. The thresholds are reconstructed: ordinary paragraphs, tables,
 * rules of dashes and tool calls score 0. The share of 0.3 is Thyme's. The RL code is not published.
 */
export const repetition = defineReward({
  name: 'repetition',
  scope: 'trajectory',
  description: 'A penalty for repeated characters, words and phrases, by severity.',
  paper: 'VISTA-R1, arXiv:2511.19773, §5.2',
  settings,
  origins: {
    extreme: 'paper',
    severe: 'paper',
    moderate: 'paper',
    extremeCharacters: 'reconstructed',
    severeCharacters: 'reconstructed',
    moderateCharacters: 'reconstructed',
    moderatePunctuation: 'reconstructed',
    extremeWords: 'reconstructed',
    severeWords: 'reconstructed',
    moderateWords: 'reconstructed',
    extremePhrases: 'reconstructed',
    severePhrases: 'reconstructed',
    moderatePhrases: 'reconstructed',
    extremeCover: 'reconstructed',
    severeCover: 'reconstructed',
    extremeShare: 'reconstructed',
    severeShare: 'reconstructed',
    shortestPhrase: 'reconstructed',
    longestPhrase: 'reconstructed',
    coveringCopies: 'reconstructed',
  },
  range: ({ extreme, severe, moderate }) => [
    Math.min(extreme, severe, moderate, -Number.MIN_VALUE),
    0,
  ],
  score: (trajectory, _, values) =>
    Math.min(0, ...modelTexts(trajectory).map((text) => severityOf(text, values))),
});

/** R_rep of one text. */
export function severityOf(text: string, options: RepetitionSettings): number {
  const found = measureRepetition(text, options);
  const isLong = found.phrases >= options.moderatePhrases;
  if (
    found.characters >= options.extremeCharacters ||
    found.words >= options.extremeWords ||
    found.phrases >= options.extremePhrases ||
    (isLong && found.covered >= options.extremeCover && found.share >= options.extremeShare)
  ) {
    return options.extreme;
  }
  if (
    found.characters >= options.severeCharacters ||
    found.words >= options.severeWords ||
    found.phrases >= options.severePhrases ||
    (isLong && found.covered >= options.severeCover && found.share >= options.severeShare)
  ) {
    return options.severe;
  }
  const isModerate =
    found.characters >= options.moderateCharacters ||
    found.punctuation >= options.moderatePunctuation ||
    found.words >= options.moderateWords ||
    isLong;
  return isModerate ? options.moderate : 0;
}
