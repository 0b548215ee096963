/** Answers of several forms in one benchmark: numbers, options and texts, each by its own rule. */
import { choice, quantity, type SettingsOf } from '@saccade/core/settings';
import { z } from 'zod';
import { defineVerifier } from '../define-verifier.ts';
import { anls } from './anls.ts';
import { exact } from './exact.ts';
import { expectedAnswers } from './expected-answers.ts';
import { mra } from './mra.ts';
import { multipleChoice } from './multiple-choice.ts';
import { plainNumberIn } from './numeric.ts';
import { quantity as sameQuantity } from './quantity.ts';

const settings = z.strictObject({
  numbers: choice(['tolerance', 'mra'], {
    default: 'tolerance',
    about: 'How numbers are compared: within relativeTolerance, or by mean relative accuracy.',
  }),
  texts: choice(['exact', 'anls'], {
    default: 'exact',
    about: 'How texts are compared: the same text, or normalized edit distance.',
  }),
  relativeTolerance: quantity({
    min: 0,
    max: 1,
    default: 1e-6,
    unit: 'fraction',
    about: 'Largest error of a number as a share of what is expected.',
  }),
});

/**
 * By the form of what is expected: a letter from A to H is an option, a number is compared as one,
 * anything else as a text. VSI-Bench (arXiv:2412.14171, §3.3) scores numbers by MRA and options by
 * accuracy in this way; MathVista (arXiv:2310.02255, §2.4) has the three forms.
 */
export const answerForm = defineVerifier({
  name: 'answer-form',
  description: 'Options, numbers and texts, each by its own rule, by the form of what is expected.',
  paper: 'arXiv:2412.14171, §3.3; arXiv:2310.02255, §2.4',
  settings,
  verify(answer, expected, settings) {
    // A benchmark may list several right answers.
    return Math.max(...expectedAnswers(expected).map((one) => verifyOne(answer, one, settings)));
  },
});

function verifyOne(
  answer: string,
  expected: string,
  { numbers, texts, relativeTolerance }: SettingsOf<typeof settings>,
): number {
  if (/^\(?[A-H]\)?\.?$/.test(expected.trim())) return multipleChoice.verify(answer, expected);
  if (plainNumberIn(expected) !== undefined) {
    if (numbers === 'mra') return mra.verify(answer, expected);
    return sameQuantity.with({ relativeTolerance }).verify(answer, expected);
  }
  return (texts === 'anls' ? anls : exact).verify(answer, expected);
}
