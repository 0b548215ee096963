/** Whether labels that were read are those of a chart. */
import { textLikeness } from '../quality.ts';

/** A label without what OCR and drawing vary: case, spaces, signs. */
function plain(text: string): string {
  return text.toLowerCase().replaceAll(/[^\p{L}\p{N}]/gu, '');
}

/** Whether a label is read right; one that the chart itself cuts with an ellipsis as far as it goes. */
export function isSameLabel(read: string, truth: string): boolean {
  const [found, wanted] = [plain(read), plain(truth)];
  if (found === wanted) return true;
  return /(…|\.\.+)\s*$/.test(read) && found.length >= 5 && wanted.startsWith(found);
}

/**
 * For every true label the index of the one that was read for it, each used once; undefined where none
 * is like it by six tenths.
 */
export function matchLabels(
  read: readonly string[],
  truth: readonly string[],
): readonly (number | undefined)[] {
  const pairs = read.flatMap((found, i) =>
    truth.map((wanted, j) => ({
      ...{ i, j },
      likeness: isSameLabel(found, wanted) ? 1 : textLikeness(plain(found), plain(wanted)),
    })),
  );
  const chosen: (number | undefined)[] = truth.map(() => undefined);
  const used = new Set<number>();
  for (const { i, j, likeness } of pairs.sort((a, b) => b.likeness - a.likeness)) {
    if (likeness < 0.6 || used.has(i) || chosen[j] !== undefined) continue;
    chosen[j] = i;
    used.add(i);
  }
  return chosen;
}
