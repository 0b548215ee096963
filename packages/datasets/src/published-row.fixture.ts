/** A row of a published set, and the task that it becomes. */

/** Stand for an image of a row: its struct in Parquet, its bytes alone, and what they hash to. */
export const IMAGE = 'an image';
export const BYTES = 'the bytes of an image';
export const SHA256 = '{sha256}';

export interface Published {
  /** Columns as the set has them; `IMAGE` stands for an image struct. */
  readonly row: Readonly<Record<string, unknown>>;
  /** Files that the row names; `SHA256` in a name is the hash of the image. */
  readonly files?: readonly string[];
  /** A JSON file around rows, instead of Parquet. */
  readonly wrap?: (row: unknown) => unknown;
  readonly records?: string;
  readonly question: string | RegExp;
  readonly answer: string;
  readonly images: number;
  readonly metadata?: Readonly<Record<string, unknown>>;
}

export const turns = (question: string, answer: string) => [
  { from: 'human', value: question },
  { from: 'gpt', value: answer },
];
