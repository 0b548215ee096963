/** Answers that must be the same text. */
import type { Verifier } from '../reward.ts';

/** 1 if both are the same text, apart from case, white space and a final full stop. */
export const exact: Verifier = {
  name: 'exact',
  verify: (answer, expected) => (normalised(answer) === normalised(expected) ? 1 : 0),
};

function normalised(text: string): string {
  const plain = text.normalize('NFKC').trim().replace(/\s+/gu, ' ').toLowerCase();
  return plain.length > 1 && plain.endsWith('.') ? plain.slice(0, -1).trimEnd() : plain;
}
