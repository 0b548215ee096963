/** Finds the known name that a misspelled one was meant to be. */

/** Names longer than this are not misspellings. */
const MAX_LENGTH = 100;

/** Edit distance between two strings (insert, delete, replace). */
function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const replaced = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(replaced, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}

const lastWord = (path: string): string => path.slice(path.lastIndexOf('.') + 1);

/**
 * The known name nearest to an unknown one, or undefined where none is near. Of dotted paths one
 * with the same last word comes first; then whichever is the fewest edits away.
 */
export function nearestName(name: string, known: readonly string[]): string | undefined {
  if (name.length > MAX_LENGTH) return undefined;
  const wanted = name.toLowerCase();
  const word = lastWord(wanted);
  const sameWord = known.find((item) => lastWord(item).toLowerCase() === word);
  if (sameWord !== undefined) return sameWord;
  let best: string | undefined;
  let bestDistance = Math.max(3, word.length / 2) + 1e-9;
  for (const item of known) {
    const distance = Math.min(
      editDistance(wanted, item.toLowerCase()),
      editDistance(word, lastWord(item).toLowerCase()) + 1,
    );
    if (distance < bestDistance) [best, bestDistance] = [item, distance];
  }
  return best;
}
