/** Answers that must be the same text. */
import { parseUnit } from '@saccade/math-verify';
import { defineVerifier } from '../define-verifier.ts';
import { boxedContent } from '../verdict.ts';

/**
 * 1 if both are the same text, apart from its dress.
 *
 *   1{ŷ = y}
 *
 * The correctness reward of VISTA-Gym, arXiv:2511.19773, §5.2, which gives no rules for equality.
 * Removed here: `\boxed{}`, white space, case, `$`, the commas of thousands (others count as
 * spaces), a final full stop, and a unit of measurement that the other answer does not name.
 */
export const exact = defineVerifier({
  name: 'exact',
  description: 'The same text, apart from case, spaces, `$`, separators and units.',
  paper: 'arXiv:2511.19773, §5.2; rules of equality ours',
  verify(answer, expected) {
    const [a, e] = [plainText(answer), plainText(expected)];
    if (a === e) return 1;
    const [valueA, unitA] = withoutUnit(a);
    const [valueE, unitE] = withoutUnit(e);
    return unitA !== '' && unitE !== '' ? 0 : Number(valueA === valueE);
  },
});

/** The text without its dress. */
export function plainText(text: string): string {
  const plain = (boxedContent(text) ?? text)
    .normalize('NFKC')
    .toLowerCase()
    .replace(/\\?\$/g, ' ')
    .replace(/(?<=\d),(?=\d{3}(?!\d))/g, '')
    .replace(/,/g, ' ')
    .replace(/\s+/gu, ' ')
    .trim();
  return plain.length > 1 && plain.endsWith('.') ? plain.slice(0, -1).trimEnd() : plain;
}

/** `5 cm` as 5 and cm: only a unit behind a number is one. */
function withoutUnit(text: string): readonly [string, string] {
  const match = /^([-+]?[\d./]*\d)\s*([^\d\s].*)$/.exec(text);
  const [, value, unit] = match ?? [];
  if (value === undefined || unit === undefined || !parseUnit(unit)) return [text, ''];
  return [value, unit];
}
