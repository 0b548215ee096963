/** Settings of scoring that belong to no reward: when an answer is right, and what code did. */
import { effectThresholds } from '@saccade/code-effects';
import { count, flag, quantity, type SettingsOf } from '@saccade/core/settings';
import { z } from 'zod';

/** Settings that decide about answers and tool use before any reward pays for them. */
export const scoringSettings = z.strictObject({
  maxAnswerCharacters: count({
    min: 1,
    max: 1_000_000,
    default: 1000,
    unit: 'characters',
    about: 'Answers this long or longer are wrong.',
  }),
  requireBox: flag({
    default: false,
    about: 'Whether an answer without \\boxed{} is wrong.',
  }),
  correctFrom: quantity({
    min: 0,
    max: 1,
    default: 0.5,
    unit: 'score',
    about: 'Score of the verifier from which an answer is right.',
  }),
  wholeShare: quantity({
    min: 0,
    max: 1,
    default: effectThresholds.wholeShare,
    unit: 'share of the image',
    about: 'A crop of at least this much changes nothing: it is no look.',
  }),
  repeatedIou: quantity({
    min: 0,
    max: 1,
    default: effectThresholds.repeatedIou,
    unit: 'IoU',
    about: 'A crop this like an earlier one shows nothing new.',
  }),
  quarterDegrees: quantity({
    min: 0,
    max: 45,
    default: effectThresholds.quarterDegrees,
    unit: 'degrees',
    about: 'A turn this near to a quarter turn is one.',
  }),
});

/** The values of the section `scoring`, with defaults filled in. */
export type ScoringSettings = SettingsOf<typeof scoringSettings>;
