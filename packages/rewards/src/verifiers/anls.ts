/** Answers read from documents, where a letter may be misread. */
import type { Verifier } from '../reward.ts';
import { expectedAnswers } from './expected-answers.ts';

/** From this distance on an answer is wrong. */
const threshold = 0.5;
/** Longer answers are cut: the distance takes quadratic time. */
const maxCharacters = 1000;

/**
 * Average normalised Levenshtein similarity of one answer.
 *
 *   s = max_j (1 − NL(a_j, ŷ)) where NL < 0.5, else 0;   NL = distance / length of the longer one
 *
 * Biten et al. 2019, arXiv:1905.13648, eq. 1, with the threshold given there. Not case sensitive,
 * sensitive to spaces. `expected` is one answer, or several as a JSON list of texts.
 */
export const anls: Verifier = {
  name: 'anls',
  paper: 'arXiv:1905.13648, eq. 1',
  verify(answer, expected) {
    return Math.max(0, ...expectedAnswers(expected).map((one) => similarity(answer, one)));
  },
};

function similarity(answer: string, expected: string): number {
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
