/** Answers to questions about charts, several of which may be a list. */
import { flag, quantity, type SettingsOf } from '@saccade/core/settings';
import { z } from 'zod';
import { defineVerifier } from '../define-verifier.ts';
import { boxedContent } from '../verdict.ts';
import { anlsFields, similarity } from './anls.ts';
import { elementsOf } from './elements.ts';

const settings = z.strictObject({
  relativeTolerance: quantity({
    min: 0,
    max: 1,
    default: 0.05,
    unit: 'fraction',
    about: 'Largest error of a number as a share of what is expected.',
  }),
  ...anlsFields,
  exactKinds: flag({
    default: true,
    about:
      'Whether answers to kinds of questions that are exact must be the same text, as the paper of ' +
      'ChartQAPro says; false: flagged elements alone, as its published script does.',
  }),
});

/**
 * The mean over the elements of a list, of which each is compared with its counterpart.
 *
 *   s = Σ_i s(ŷ_i, y_i) / max(n, m);   s = 1{|ŷ − y| ≤ 0.05 · |y|} of numbers, ANLS of texts
 *
 * ChartQAPro (Masry et al. 2025, arXiv:2504.05506). An element that is missing or too many is 0. An
 * expected 0 takes 0 alone, and percent signs do not count. Elements that are flagged as years have to be
 * the same text, letter case apart; so do answers to multiple choice and fact checking by the paper. Its
 * public code finds these two kinds and does not use what it found: `exactKinds=false`.
 *
 * `expected` is a text, `[a, list]`, or one with what is exact:
 *
 *   {"text": "[2016, Ohio]", "exactElements": [true, false]}   {"text": "True", "exact": true}
 *
 * Flags that are fewer than the elements are repeated. The public code reads lists without quotes
 * otherwise: it joins the words of an element, takes a list for one text where numbers like 3.5 stand beside
 * words, and an answer always. It also cuts the point of `.5`.
 */
export const relaxedLists = defineVerifier({
  name: 'relaxed-lists',
  description: 'Lists element by element: numbers to within 5 %, texts by ANLS, years exactly.',
  paper: 'arXiv:2504.05506',
  settings,
  verify(answer, expected, values) {
    const { text, isExact, flags } = marked(expected);
    const wanted = elementsOf(plainOf(text));
    const given = elementsOf(plainOf(boxedContent(answer) ?? marked(answer).text));
    const scores = wanted.map((one, i) => {
      const counterpart = given[i];
      if (counterpart === undefined) return 0;
      const mustEqual = (isExact && values.exactKinds) || flags[i % flags.length] === true;
      return mustEqual ? sameText(counterpart, one) : relaxed(counterpart, one, values);
    });
    const sum = scores.reduce((total, score) => total + score, 0);
    return sum / Math.max(wanted.length, given.length);
  },
});

/** An expected answer, and what of it is exact. */
interface Marked {
  readonly text: string;
  readonly isExact: boolean;
  readonly flags: readonly unknown[];
}

function marked(text: string): Marked {
  const plain = { text, isExact: false, flags: [] };
  if (!/^\s*\{\s*"/.test(text)) return plain;
  try {
    const parsed = JSON.parse(text) as Readonly<Record<string, unknown>>;
    if (typeof parsed.text !== 'string') return plain;
    const { exactElements: flags } = parsed;
    return {
      text: parsed.text,
      isExact: parsed.exact === true,
      flags: Array.isArray(flags) ? flags : [],
    };
  } catch {
    return plain;
  }
}

/** Without the full stop of a sentence. */
const plainOf = (text: string): string => text.trim().replace(/(?<!\.)\.+$/, '');

const sameText = (answer: string, expected: string): number =>
  answer.trim().toLowerCase() === expected.trim().toLowerCase() ? 1 : 0;

function relaxed(answer: string, expected: string, values: SettingsOf<typeof settings>): number {
  const [a, e] = [answer, expected].map((text) =>
    text
      .trim()
      .replace(/^%+|(?<!%)%+$/g, '')
      .trim(),
  );
  const [given, wanted] = [numberIn(a ?? ''), numberIn(e ?? '')];
  if (given === undefined || wanted === undefined) return similarity(a ?? '', e ?? '', values);
  if (wanted === 0) return given === 0 ? 1 : 0;
  return Math.abs(given - wanted) / Math.abs(wanted) <= values.relativeTolerance ? 1 : 0;
}

/** A number as programs write it; one with separators or a unit is a text. */
function numberIn(text: string): number | undefined {
  if (!/^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?$/i.test(text)) return undefined;
  const value = Number(text);
  return Number.isFinite(value) ? value : undefined;
}
