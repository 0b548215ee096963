/** Answers that count things. */
import { defineVerifier } from '../define-verifier.ts';
import { plainNumberIn } from './numeric.ts';

const words =
  'zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen twenty'.split(
    ' ',
  );
const tens = ['twenty', 'thirty', 'forty', 'fifty', 'sixty', 'seventy', 'eighty', 'ninety'];

/**
 * 1 if both are the same whole number, in digits or words: `3`, `three`, `There are 3 dogs.`
 *
 * Exact match of the count, as CountBench (Paiss et al. 2023, arXiv:2302.12066) and PixMo-Count
 * (Deitke et al. 2024, arXiv:2409.17146) report it. A sentence must hold exactly one number. CodeV's
 * public code has no rule of its own for counts: it scores them as it does any answer, and lets a
 * judge grade how the model counted.
 */
export const counting = defineVerifier({
  name: 'counting',
  description: 'The same count, in digits or words.',
  paper: 'arXiv:2302.12066',
  verify(answer, expected) {
    const [a, e] = [countIn(answer), countIn(expected)];
    return a !== undefined && a === e ? 1 : 0;
  },
});

function countIn(text: string): number | undefined {
  const plain = text.replace(/\\boxed\s*\{([^{}]*)\}/g, '$1').slice(0, 1000);
  const direct = plainNumberIn(plain.replace(/[.\s]+$/, ''));
  if (direct !== undefined) return Number.isInteger(direct) ? direct : undefined;
  const found = plain.toLowerCase().match(/-?\d[\d,]*(?:\.\d+)?|[a-z]+(?:-[a-z]+)?/g) ?? [];
  const counts = found.map(wordValue).filter((value) => value !== undefined);
  const [only] = counts;
  return counts.length === 1 && only !== undefined && Number.isInteger(only) ? only : undefined;
}

function wordValue(word: string): number | undefined {
  if (/\d/.test(word)) return plainNumberIn(word.replace(/,$/, ''));
  const unit = words.indexOf(word);
  if (unit >= 0) return unit;
  const [ten = '', digit] = word.split('-');
  const index = tens.indexOf(ten);
  if (index < 0) return undefined;
  if (digit === undefined) return (index + 2) * 10;
  const ones = words.indexOf(digit);
  return ones >= 1 && ones <= 9 ? (index + 2) * 10 + ones : undefined;
}
