/** Answers read from documents, where a letter may be misread. */
import { count, quantity, type SettingsOf } from '@saccade/core/settings';
import { z } from 'zod';
import { defineVerifier } from '../define-verifier.ts';
import { expectedAnswers } from './expected-answers.ts';

/** Settings of everything that compares texts in this way. */
export const anlsFields = {
  threshold: quantity({
    min: 0,
    max: 1,
    default: 0.5,
    unit: 'fraction',
    about: 'From this normalized distance on an answer is wrong.',
  }),
  maxCharacters: count({
    min: 1,
    max: 10_000,
    default: 1000,
    unit: 'characters',
    about: 'Longer answers are cut: the distance takes quadratic time.',
  }),
};
const settings = z.strictObject(anlsFields);

/**
 * Average normalized Levenshtein similarity of one answer.
 *
 *   s = max_j (1 − NL(a_j, ŷ)) where NL < 0.5, else 0;   NL = distance / length of the longer one
 *
 * Biten et al. 2019, arXiv:1905.13648, eq. 1, with the threshold given there. Not case sensitive,
 * sensitive to spaces. `expected` is one answer, or several as a JSON list of texts.
 */
export const anls = defineVerifier({
  name: 'anls',
  description: 'Similarity of text with misread letters, 0 below the threshold.',
  paper: 'arXiv:1905.13648, eq. 1',
  settings,
  verify(answer, expected, values) {
    return Math.max(0, ...expectedAnswers(expected).map((one) => similarity(answer, one, values)));
  },
});

/** Similarity of an answer with one text, 0 from the threshold on, and where one of them is empty. */
export function similarity(
  answer: string,
  expected: string,
  { threshold, maxCharacters }: SettingsOf<typeof settings>,
): number {
  const [a, e] = [answer, expected].map((text) =>
    [...text.trim().toLowerCase().replace(/\s+/gu, ' ')].slice(0, maxCharacters),
  );
  if (a === undefined || e === undefined || a.length === 0 || e.length === 0) return 0;
  const distance = levenshtein(a, e) / Math.max(a.length, e.length);
  return distance < threshold ? 1 - distance : 0;
}

/** Fewest insertions, deletions and replacements; one row at a time. */
function levenshtein(a: readonly string[], b: readonly string[]): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (const [i, character] of a.entries()) {
    const next = [i + 1];
    for (const [j, other] of b.entries()) {
      const replaced = (row[j] ?? 0) + (character === other ? 0 : 1);
      next.push(Math.min(replaced, (row[j + 1] ?? 0) + 1, (next[j] ?? 0) + 1));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}
