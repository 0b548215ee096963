/** Answers that only have to name what is asked for. */
import { defineVerifier } from '../define-verifier.ts';
import { expectedAnswers } from './expected-answers.ts';

/**
 * 1 if the answer contains the expected text, or one of several; letter case and the width of spaces do
 * not matter, and in formulas, which have a backslash, no space does.
 *
 * The rule of OCRBench (Liu et al. 2023, arXiv:2305.07895). It applies the rule of formulas to one of
 * its sources by name. A long answer that lists everything is right: the suite's limit of tokens is
 * what keeps answers short. `expected` is one answer, or several as a JSON list of texts.
 */
export const contains = defineVerifier({
  name: 'contains',
  description: 'The answer contains the expected text.',
  paper: 'arXiv:2305.07895',
  // Not a number: 77 contains 7.
  example: 'centre',
  verify(answer, expected) {
    const isNamed = expectedAnswers(expected).some((one) => {
      const isFormula = one.includes('\\');
      const sought = plain(one, isFormula);
      return sought !== '' && plain(answer, isFormula).includes(sought);
    });
    return isNamed ? 1 : 0;
  },
});

// Letters of formulas differ by case: x and X are two variables.
const plain = (text: string, isFormula: boolean): string =>
  isFormula ? text.replace(/\s+/gu, '') : text.trim().toLowerCase().replace(/\s+/gu, ' ');
