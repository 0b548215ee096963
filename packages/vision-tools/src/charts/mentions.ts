/** Finds the rows and series of a chart that a question names, by their labels as read. */
import { editDistance } from '../edit-distance.ts';

/** A label that a question names, and where: its words from `start` to before `end`. */
export interface Mention {
  readonly index: number;
  readonly start: number;
  readonly end: number;
}

/** The words of a text, in lower case, without signs; numbers keep points and lose commas. */
export function wordsIn(text: string): readonly string[] {
  return text
    .toLowerCase()
    .replaceAll(/['’]s\b/g, '')
    .replaceAll(/(\d),(?=\d{3}\b)/g, '$1')
    .split(/[^\p{L}\p{N}.%$-]+/u)
    .map((word) => word.replaceAll(/^[.$-]+(?!\d)|^\$|[.%-]+$/g, ''))
    .filter((word) => word !== '');
}

/** Words that stand in any question; a label of only these is matched as a whole phrase only. */
const common = new Set([
  'the',
  'of',
  'in',
  'and',
  'is',
  'a',
  'to',
  'for',
  'or',
  'by',
  'all',
  'other',
]);

/**
 * The labels that the words of a question name, from left to right. Longer labels go first; spaces and
 * case do not count, and one letter in seven may be read wrongly.
 *
 * @param taken  words that are no part of a label any more; those of the mentions are added
 */
export function mentionsOf(
  words: readonly string[],
  labels: readonly string[],
  taken: Set<number>,
): readonly Mention[] {
  const candidates = labels.flatMap((label, index) => {
    const key = wordsIn(label);
    return key.length === 0 ? [] : [{ index, joined: key.join(''), length: key.length }];
  });
  const found: Mention[] = [];
  for (const isExact of [true, false]) {
    for (const { index, joined, length } of candidates.sort(byLength)) {
      if (found.some((mention) => mention.index === index)) continue;
      const place = placeOf(words, joined, { length, isExact, taken });
      if (place === undefined) continue;
      for (let at = place.start; at < place.end; at++) taken.add(at);
      found.push({ index, ...place });
    }
  }
  return found.sort((a, b) => a.start - b.start);
}

function byLength(a: { readonly joined: string }, b: { readonly joined: string }): number {
  return b.joined.length - a.joined.length;
}

function placeOf(
  words: readonly string[],
  joined: string,
  how: { readonly length: number; readonly isExact: boolean; readonly taken: ReadonlySet<number> },
): { readonly start: number; readonly end: number } | undefined {
  if (common.has(joined)) return undefined;
  // The recognizer may have lost or added a space.
  for (const length of [how.length, how.length + 1, how.length - 1]) {
    for (let start = 0; length > 0 && start + length <= words.length; start++) {
      const end = start + length;
      const span = words.slice(start, end);
      if (span.some((_, offset) => how.taken.has(start + offset))) continue;
      if (isSame(span.join(''), joined, how.isExact)) return { start, end };
    }
  }
  return undefined;
}

function isSame(said: string, label: string, isExact: boolean): boolean {
  if (said === label || `${label}s` === said) return true;
  if (isExact || label.length < 5 || /^[\d.]+$/.test(label)) return false;
  return editDistance(said, label) <= Math.max(said.length, label.length) / 7;
}
