/** Compares two answers as written: parse both, then compare what they say. */
import { areEquivalent } from './equivalence.ts';
import { parseAnswer } from './parse-answer.ts';
import { defaultPrecision, type Precision } from './precision.ts';

/**
 * True if both texts state the same mathematics, however they are written.
 *
 * Reads LaTeX and plain notation: numbers, fractions, roots, percent, units, intervals and unions,
 * sets, tuples, matrices, equations, inequalities, several answers in any order, words. Expressions
 * with symbols are equal if they agree at random real points (Schwartz 1980, doi:10.1145/322217.322225,
 * applied to the reals). The accepted notation follows Math-Verify
 * (github.com/huggingface/Math-Verify); the README lists the differences. The work is bounded by
 * counting steps, not by a clock, so the same pair always gets the same verdict.
 *
 * Never throws. An empty answer matches nothing.
 *
 * @param answer    what the model answered
 * @param expected  the reference; it decides how an ambiguous answer is read
 * @param precision how near values must be; default six figures of rounded numbers, nine of exact ones
 */
export function answersMatch(
  answer: string,
  expected: string,
  precision: Precision = defaultPrecision,
): boolean {
  if (answer.trim() === '' || expected.trim() === '') return false;
  if (answer.trim() === expected.trim()) return true;
  const [a, e] = [parseAnswer(answer), parseAnswer(expected)];
  if (areEquivalent(a, e, precision)) return true;
  if ((a.kind === 'text') === (e.kind === 'text')) return false;
  // A few letters opposite a formula may be a product: xy for x · y.
  const word = (a.kind === 'text' ? answer : expected).trim();
  if (!/^[A-Za-z]{2,4}$/.test(word)) return false;
  const [x, y] = [answer, expected].map((text) => parseAnswer(text, { isFormula: true }));
  return x !== undefined && y !== undefined && areEquivalent(x, y, precision);
}
