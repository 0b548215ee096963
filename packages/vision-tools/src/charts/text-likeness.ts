/** How alike two texts are. */

/** 1 less the share of edits (Levenshtein 1966) that lead from one text to the other. */
export function textLikeness(one: string, other: string): number {
  let row = Array.from({ length: other.length + 1 }, (_, index) => index);
  for (const [i, symbol] of [...one].entries()) {
    const next = [i + 1];
    for (let j = 1; j <= other.length; j++) {
      const same = symbol === other[j - 1] ? 0 : 1;
      next.push(Math.min((row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1, (row[j - 1] ?? 0) + same));
    }
    row = next;
  }
  return 1 - (row[other.length] ?? 0) / Math.max(one.length, other.length, 1);
}
