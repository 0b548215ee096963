/** Questions about a ledger, each with its program and answer. */
import type { Random } from '@saccade/core';
import type { Box } from '@saccade/gym';
import type { LedgerRow } from './ledger.ts';

/** Kinds of questions. */
export const ledgerOperations = ['amount', 'owner', 'remark', 'sum', 'difference'] as const;

/**
 * How the answer follows from the rows:
 *
 * | operation    | answer                                              |
 * | ------------ | --------------------------------------------------- |
 * | `amount`     | the handwritten amount of `items`                   |
 * | `owner`      | the item with an amount                             |
 * | `remark`     | the handwritten remark beside `items`               |
 * | `sum`        | both handwritten amounts of `items` added           |
 * | `difference` | the first amount of `items` less the second         |
 */
export type LedgerOperation = (typeof ledgerOperations)[number];

/** How the answer follows. */
export interface LedgerProgram {
  readonly operation: LedgerOperation;
  readonly items: readonly string[];
}

/** A question about a ledger. */
export interface LedgerQuestion {
  readonly question: string;
  readonly answer: string;
  readonly program: LedgerProgram;
  readonly evidence: readonly Box[];
}

/** Asks about one row, or about two. */
export function askLedger(
  rows: readonly LedgerRow[],
  operation: LedgerOperation,
  random: Random,
): LedgerQuestion {
  const [one, other] = random.shuffle(rows) as [LedgerRow, LedgerRow, ...LedgerRow[]];
  const number = 'Answer with a number.';
  const single = { program: { operation, items: [one.item] } };
  if (operation === 'amount') {
    return {
      ...single,
      question: `Which amount is written by hand beside “${one.item}”? ${number}`,
      answer: String(one.amount),
      evidence: [one.itemBox, one.amountBox],
    };
  }
  if (operation === 'owner') {
    return {
      ...single,
      question: `Which item has the handwritten amount ${one.amount}? Answer as it is printed.`,
      answer: one.item,
      evidence: [one.itemBox, one.amountBox],
    };
  }
  if (operation === 'remark') {
    return {
      ...single,
      question: `Which word is the handwritten remark beside “${one.item}”?`,
      answer: one.remark,
      evidence: [one.itemBox, one.remarkBox],
    };
  }
  const [more, less] = one.amount > other.amount ? [one, other] : [other, one];
  const isSum = operation === 'sum';
  const question = isSum
    ? `What do “${more.item}” and “${less.item}” cost together, in dollars? ${number}`
    : `How many dollars does “${more.item}” cost more than “${less.item}”? ${number}`;
  return {
    question,
    answer: String(isSum ? more.amount + less.amount : more.amount - less.amount),
    program: { operation, items: [more.item, less.item] },
    evidence: [more, less].flatMap(({ itemBox, amountBox }) => [itemBox, amountBox]),
  };
}
