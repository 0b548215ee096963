/**
 * JSON Lines whose rows carry checksums: one of the row itself, so that a changed row is noticed, and
 * one that links it to the row before, so that a row that is missing or moved is noticed.
 */
import { messageOf } from '@saccade/core';
import { sha256 } from './sealed-json.ts';
import { type Damage, oneLine, type Read } from './store-error.ts';

/** The link of the first row. */
export const FIRST_LINK = 'first';

const SEAL = /,"checksum":"([0-9a-f]{16})-([0-9a-f]{8})"\}$/;

function ownOf(open: string): string {
  return sha256(open).slice(0, 16);
}

function linkOf(previous: string, own: string): string {
  return sha256(`${previous} ${own}`).slice(0, 8);
}

/**
 * A row with its checksums, without the newline.
 *
 * @param json an object with at least one member
 * @param previous the own checksum of the row before, or `FIRST_LINK`
 */
export function sealRow(
  json: string,
  previous: string,
): { readonly line: string; readonly own: string } {
  const open = json.slice(0, -1);
  const own = ownOf(open);
  return { line: `${open},"checksum":"${own}-${linkOf(previous, own)}"}`, own };
}

/** One whole row. */
interface Row {
  /** Line of the file, counted from 1. */
  readonly line: number;
  /** JSON without the checksum. */
  readonly json: string;
  readonly value: Readonly<Record<string, unknown>>;
}

export interface Rows {
  readonly rows: readonly Row[];
  /** False if no row has a checksum: the file was written by a run of format 1. */
  readonly isChecked: boolean;
  /** The checksum to which the next row is linked. */
  readonly lastOwn: string;
}

/** Reads the rows of a file; those that are damaged are left out and named. */
export function readRows(path: string, bytes: Buffer): Read<Rows> {
  const lines = bytes.toString('utf8').split('\n');
  const tail = lines.pop() ?? '';
  const seals = lines.map((line) => SEAL.exec(line));
  const unsealed = unsealedRows(lines, seals);
  const rows: Row[] = [];
  const problems = new Problems();
  let previous: string | undefined = FIRST_LINK;
  for (const [i, text] of lines.entries()) {
    const line = i + 1;
    const seal = seals[i] ?? null;
    const isOld = i < unsealed;
    if (seal === null && (!isOld || hasLostSeal(text))) {
      problems.add(text.trim() === '' ? 'is empty' : 'has no checksum', line);
      previous = undefined;
      continue;
    }
    const open = seal === null ? undefined : text.slice(0, seal.index);
    const own = seal?.[1];
    if (open !== undefined && ownOf(open) !== own) {
      problems.add('does not match its checksum', line);
      previous = own;
      continue;
    }
    if (own !== undefined) {
      if (previous !== undefined && linkOf(previous, own) !== seal?.[2]) {
        problems.add('does not follow the row before it: rows are missing', line);
      }
      previous = own;
    }
    if (text === '') continue;
    const json = open === undefined ? text : `${open}}`;
    const value = objectIn(json);
    if (typeof value === 'string') problems.add(value, line);
    else rows.push({ line, json, value });
  }
  if (tail !== '') problems.add('is cut short and was left out', lines.length + 1);
  const remedy = 'Restore the file from a copy, or take what is left as it is.';
  const damage = problems.sentences().map((problem): Damage => ({ path, problem, remedy }));
  const isChecked = unsealed < lines.length || lines.length === 0;
  const lastOwn = seals.at(-1)?.[1] ?? FIRST_LINK;
  return { value: { rows, isChecked, lastOwn }, damage };
}

/**
 * How many rows at the beginning were written without checksums: those of a run of format 1, which a
 * later version may have gone on with. The first row after them begins a chain.
 */
function unsealedRows(
  lines: readonly string[],
  seals: readonly (RegExpExecArray | null)[],
): number {
  const first = seals.findIndex((seal) => seal !== null);
  if (first === -1) return lines.length;
  const [, own, link] = seals[first] ?? [];
  return own !== undefined && linkOf(FIRST_LINK, own) === link ? first : 0;
}

/** Whether a row without a checksum once had one. */
function hasLostSeal(text: string): boolean {
  return /"checksum"|"[0-9a-f]{16}-[0-9a-f]{8}"/.test(text);
}

function objectIn(json: string): Row['value'] | string {
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch (error) {
    return oneLine(`is not JSON (${messageOf(error)})`);
  }
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
  return isObject ? (value as Row['value']) : 'is not an object';
}

/** Row numbers by problem, so that a file gives one sentence for each kind. */
class Problems {
  readonly #lines = new Map<string, number[]>();

  add(problem: string, line: number): void {
    this.#lines.set(problem, [...(this.#lines.get(problem) ?? []), line]);
  }

  sentences(): readonly string[] {
    return [...this.#lines].map(([problem, lines]) => {
      const shown = lines.slice(0, 5).join(', ');
      const more = lines.length > 5 ? ` and ${lines.length - 5} more` : '';
      return `row ${shown}${more} ${problem}`;
    });
  }
}
