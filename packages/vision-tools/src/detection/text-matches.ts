/** Where a text is among the lines that were read. */
import type { Word } from '../reading/words.ts';

/** A place of a text. */
export interface TextMatch {
  /** As it was read. */
  readonly text: string;
  /** From 0 to 1: how alike it is what was asked for. */
  readonly match: number;
  /** [l, t, r, b] in pixels of the image. */
  readonly box: readonly number[];
}

/** Lines that have the text in them, best first; all of them for an empty text. */
export function textMatches(words: readonly Word[], wanted: string): readonly TextMatch[] {
  if (wanted === '') {
    return words.map(({ text, confidence, box }) => ({ text, match: confidence, box }));
  }
  return words
    .flatMap((word) => bestPart(word, wanted))
    .sort((a, b) => b.match - a.match || (a.box[1] ?? 0) - (b.box[1] ?? 0));
}

/** Letters and digits that count, each with its index in the text. */
function keyOf(text: string): { readonly key: string; readonly indices: readonly number[] } {
  let key = '';
  const indices: number[] = [];
  for (const [index, symbol] of [...text].entries()) {
    const folded = symbol.normalize('NFKC').toLowerCase();
    if (!/[\p{L}\p{N}$%€£.]/u.test(folded)) continue;
    for (const one of folded) {
      key += one;
      indices.push(index);
    }
  }
  return { key, indices };
}

/** The part of a line that is most like the text, if more than half of it is. */
function bestPart(word: Word, wanted: string): readonly TextMatch[] {
  const { key, indices } = keyOf(word.text);
  const target = keyOf(wanted).key;
  if (target === '' || key === '') return [];
  const found = nearestPart(key, target);
  const match = (1 - found.distance / target.length) * word.confidence;
  if (match <= 0.5) return [];
  const symbols = [...word.text];
  const [from, to] = [indices[found.start] ?? 0, indices[found.end - 1] ?? symbols.length - 1];
  return [{ text: symbols.slice(from, to + 1).join(''), match, box: boxOfPart(word, from, to) }];
}

/** The part of `key` with the least edits to `target`: Sellers' alignment. */
function nearestPart(
  key: string,
  target: string,
): { readonly start: number; readonly end: number; readonly distance: number } {
  let row = Array.from({ length: target.length + 1 }, (_, edits) => ({ edits, start: 0 }));
  let best = { start: 0, end: 0, distance: target.length };
  for (let end = 1; end <= key.length; end++) {
    const next = [{ edits: 0, start: end }];
    for (let at = 1; at <= target.length; at++) {
      const same = key[end - 1] === target[at - 1] ? 0 : 1;
      const [diagonal, above, left] = [row[at - 1], row[at], next[at - 1]];
      if (diagonal === undefined || above === undefined || left === undefined) continue;
      const options = [
        { edits: diagonal.edits + same, start: diagonal.start },
        { edits: above.edits + 1, start: above.start },
        { edits: left.edits + 1, start: left.start },
      ];
      next.push(options.reduce((least, one) => (one.edits < least.edits ? one : least)));
    }
    row = next;
    const last = row[target.length];
    if (last !== undefined && last.edits < best.distance) {
      best = { start: last.start, end, distance: last.edits };
    }
  }
  return best;
}

/** The box of some symbols of a line, by where the recognizer saw them. */
function boxOfPart({ text, places, box, quad }: Word, from: number, to: number): readonly number[] {
  const count = [...text].length;
  if (from === 0 && to === count - 1) return box;
  const place = (index: number): number => places[index] ?? (index + 0.5) / count;
  const start = from === 0 ? 0 : (place(from - 1) + place(from)) / 2;
  const end = to === count - 1 ? 1 : (place(to) + place(to + 1)) / 2;
  const [topLeft, topRight, bottomRight, bottomLeft] = quad;
  const between = (a: readonly [number, number], b: readonly [number, number], share: number) =>
    [a[0] + (b[0] - a[0]) * share, a[1] + (b[1] - a[1]) * share] as const;
  const corners = [start, end].flatMap((share) => [
    between(topLeft, topRight, share),
    between(bottomLeft, bottomRight, share),
  ]);
  const [xs, ys] = [corners.map(([x]) => x), corners.map(([, y]) => y)];
  return [Math.min(...xs), Math.min(...ys), Math.max(...xs), Math.max(...ys)];
}
