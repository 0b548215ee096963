/** Which parts of an answer have to be the same text, for verifiers that let others differ. */
import { DataError } from '@saccade/core';
import type { Fields } from '../table.ts';
import { type ColumnPath, parsePath } from './column-path.ts';
import type { ExactValue } from './mapping-schema.ts';
import { readCondition, textsAt } from './texts.ts';

/** Says with an answer what of it is exact. */
export interface ExactReader {
  readonly flags: ColumnPath | undefined;
  /** Paths of the kinds of rows. */
  readonly conditions: readonly ColumnPath[];
  /** @throws DataError for a row without flags */
  mark(text: string, fields: Fields): string;
}

/**
 * Reads what is exact. An answer of which nothing is stays its plain text. Others become JSON:
 *
 *   {"text": "[2016, Ohio]", "exactElements": [true, false]}
 *   {"text": "True", "exact": true}
 *
 * The verifier divides the text into elements, and repeats flags that are fewer.
 */
export function readExact({ flags, lastFlag, rows }: ExactValue): ExactReader {
  const path = flags === undefined ? undefined : parsePath(flags);
  const hasLast = lastFlag && readCondition(lastFlag);
  const isWhole = rows && readCondition(rows);
  return {
    flags: path,
    conditions: [hasLast, isWhole].flatMap((one) => (one === undefined ? [] : [one.path])),
    mark(text, fields) {
      const all = path === undefined ? [] : flagsAt(fields, path);
      const elements = hasLast?.holds(fields) ? all.slice(-1) : all;
      const exact = isWhole?.holds(fields) ?? false;
      const exactElements = elements.includes(true) ? elements : undefined;
      if (!exact && exactElements === undefined) return text;
      return JSON.stringify({
        text,
        ...(exact && { exact }),
        ...(exactElements && { exactElements }),
      });
    },
  };
}

function flagsAt(fields: Fields, path: ColumnPath): readonly boolean[] {
  const flags = textsAt(fields, path).map((text) => /^(?:yes|true)$/i.test(text.trim()));
  if (flags.length > 0) return flags;
  throw new DataError(
    `${path.text}: there are no flags; expected YES or NO for each element of the answer`,
  );
}
