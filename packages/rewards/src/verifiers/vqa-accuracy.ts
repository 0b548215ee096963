/** Answers to questions that ten people answered, each in words of their own. */
import { choice } from '@saccade/core/settings';
import { z } from 'zod';
import { defineVerifier } from '../define-verifier.ts';
import { expectedAnswers } from './expected-answers.ts';
import { type Normalization, normalizations, normalized } from './vqa-normalization.ts';

const settings = z.strictObject({
  normalization: choice(normalizations, {
    default: 'vqa',
    about: 'How texts are made alike: as the evaluation of VQA does it, or as that of TextVQA.',
  }),
});

/**
 * The agreement with people, averaged over the sets that leave one of them out.
 *
 *   s = (1/N) Σ_i min(1, |{j ≠ i : a_j = ŷ}| / 3)
 *
 * VQA (Antol et al. 2015, arXiv:1505.00468, with the average of its public evaluation); TextVQA
 * (Singh et al. 2019, arXiv:1904.08920) has the same. Texts are compared without articles and
 * punctuation, with digits for number words. The evaluation of VQA compares them as they are where all
 * people wrote the same; that of TextVQA never does.
 *
 * `expected` is the answers as a JSON list of texts. One alone has no others to agree with: then it is
 * 1{ŷ = y}.
 */
export const vqaAccuracy = defineVerifier({
  name: 'vqa-accuracy',
  description: 'How many of ten people gave the answer: three are enough.',
  paper: 'arXiv:1505.00468',
  settings,
  verify(answer, expected, values) {
    const normalization = values.normalization as Normalization;
    const people = expectedAnswers(expected).map(plainText);
    const isRaw = normalization === 'vqa' && new Set(people).size === 1;
    const alike = (text: string): string => (isRaw ? text : normalized(text, normalization));
    const given = alike(plainText(answer));
    const answers = people.map(alike);
    const same = answers.filter((one) => one === given).length;
    const count = answers.length;
    if (count === 1) return given === '' ? 0 : same;
    // Of those who gave this answer, each sees one fewer who did.
    return (same * Math.min(1, (same - 1) / 3) + (count - same) * Math.min(1, same / 3)) / count;
  },
});

const plainText = (text: string): string => text.replace(/[\n\t]/g, ' ').trim();
