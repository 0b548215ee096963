/**
 * Paths to a value in a row: `problem.text`, `images[0]`, `turns[from=human].value`, or `["0.png"]` for a
 * column whose name has a dot.
 */
import { DataError } from '@saccade/core';
import { type Fields, typeOf } from '../table.ts';

/** One step of a path. */
type Step =
  | { readonly kind: 'key'; readonly key: string }
  | { readonly kind: 'index'; readonly index: number }
  | { readonly kind: 'where'; readonly key: string; readonly value: string };

/** A path that is read: its column, and the steps below it. */
export interface ColumnPath {
  readonly text: string;
  readonly column: string;
  readonly steps: readonly Step[];
}

const STEP = /\.([^.[\]]+)|\[(-?\d+)\]|\[([^=[\]]+)=([^[\]]*)\]/y;

/** @throws DataError for a text that is no path */
export function parsePath(text: string): ColumnPath {
  const [whole, quoted, plain] = /^(?:\["([^"]+)"\]|([^.[\]{}]+))/.exec(text) ?? [];
  const column = quoted ?? plain;
  const steps: Step[] = [];
  let at = whole?.length ?? 0;
  while (column !== undefined && at < text.length) {
    STEP.lastIndex = at;
    const match = STEP.exec(text);
    if (match === null) break;
    const [all, key, index, where, value] = match;
    if (key !== undefined) steps.push({ kind: 'key', key });
    else if (index !== undefined) steps.push({ kind: 'index', index: Number(index) });
    else steps.push({ kind: 'where', key: where ?? '', value: value ?? '' });
    at += all.length;
  }
  if (column !== undefined && at === text.length) return { text, column, steps };
  throw new DataError(
    `${JSON.stringify(text)} is no path. Write a column, and below it .key, [0] or [key=value].`,
  );
}

/** The value at a path; undefined where a step leads nowhere. */
export function valueAt(fields: Fields, { column, steps }: ColumnPath): unknown {
  let value: unknown = fields[column];
  for (const step of steps) {
    // A struct may be stored as the text of its JSON.
    if (typeof value === 'string') value = parsed(value);
    if (value === null || value === undefined) return undefined;
    if (step.kind === 'key') {
      if (typeOf(value) !== 'struct') return undefined;
      value = (value as Fields)[step.key];
    } else if (!Array.isArray(value)) {
      return undefined;
    } else if (step.kind === 'index') {
      value = value.at(step.index);
    } else {
      const { key, value: wanted } = step;
      value = value.find((one) => String((one as Fields | null)?.[key]) === wanted);
    }
  }
  return value;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
