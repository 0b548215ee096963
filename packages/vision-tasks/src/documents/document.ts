/** A typeset document with a question that it answers. */
import type { Box } from '@saccade/gym';
import type { Page } from '../rendering/page.ts';

/** The kinds of documents. */
export const documentKinds = ['speech', 'table', 'form'] as const;
/** A kind of document. */
export type DocumentKind = (typeof documentKinds)[number];

/**
 * How the answer is read:
 *
 * | operation   | answer                                                                      |
 * | ----------- | --------------------------------------------------------------------------- |
 * | `line-end`  | the last word of the line that begins with some words                       |
 * | `next-word` | the word after some words                                                   |
 * | `count`     | how often a word occurs                                                     |
 * | `cell`      | the cell of a table in a row and a column                                   |
 * | `row`       | the row of a table that has a value in a column                             |
 * | `field`     | the value in a field of a form                                              |
 * | `owner`     | the country of the form that has a number                                   |
 */
export type DocumentOperation =
  | 'line-end'
  | 'next-word'
  | 'count'
  | 'cell'
  | 'row'
  | 'field'
  | 'owner';

/** A document as its file makes it. */
export interface AskedDocument {
  readonly page: Page;
  readonly operation: DocumentOperation;
  readonly question: string;
  readonly answer: string;
  /** The words, cells or fields that the answer is read from; pixels. */
  readonly evidence: readonly Box[];
  /** Every text on the page, with its box, in reading order. */
  readonly words: readonly { readonly text: string; readonly box: Box }[];
  /** The files of the words and numbers. */
  readonly sources: readonly string[];
}
