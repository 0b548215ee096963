/** Answers that must be the same mathematics. */

import { readAnswer } from '../math/answer.ts';
import { areEquivalent } from '../math/equivalent.ts';
import type { Verifier } from '../reward.ts';

/**
 * 1 if both say the same mathematics, however they are written.
 *
 * Reads LaTeX and plain notation: numbers, fractions, roots, percent, units, intervals and unions,
 * sets, tuples, matrices, equations, inequalities, several answers in any order, words. Expressions
 * with symbols are equal if they agree at random real points (Schwartz 1980, doi:10.1145/322217.322225,
 * carried over to the reals). What it accepts follows Math-Verify
 * (github.com/huggingface/Math-Verify), which PyVision-RL, CodeDance and CodeV score mathematics
 * with; where it differs is listed in the package's README. Work is bounded by counting, so the same
 * pair always has the same score.
 */
export const math: Verifier = {
  name: 'math',
  paper: 'github.com/huggingface/Math-Verify; numeric probing after doi:10.1145/322217.322225',
  verify(answer, expected) {
    if (answer.trim() === '' || expected.trim() === '') return 0;
    if (answer.trim() === expected.trim()) return 1;
    const [a, e] = [readAnswer(answer), readAnswer(expected)];
    if (areEquivalent(a, e)) return 1;
    if ((a.kind === 'text') === (e.kind === 'text')) return 0;
    // Beside a formula, a few letters are one too: xy for x · y.
    const word = (a.kind === 'text' ? answer : expected).trim();
    if (!/^[A-Za-z]{2,4}$/.test(word)) return 0;
    const [x, y] = [answer, expected].map((text) => readAnswer(text, { isFormula: true }));
    return x !== undefined && y !== undefined && areEquivalent(x, y) ? 1 : 0;
  },
};
