/** How a text repeats itself: characters, words, phrases. */

export interface Repetition {
  /** Longest run of one letter or digit. */
  readonly characters: number;
  /** Longest run of one other mark that is not white space. */
  readonly punctuation: number;
  /** Longest run of one word that is not a number. */
  readonly words: number;
  /** Most copies in a row of one phrase. */
  readonly phrases: number;
  /** Words in runs of a phrase with enough copies. */
  readonly covered: number;
  /** The same as a share of all words. */
  readonly share: number;
}

/** Lengths of phrases that are looked for, and copies from which one covers its words. */
export interface PhraseOptions {
  readonly shortestPhrase: number;
  readonly longestPhrase: number;
  readonly coveringCopies: number;
}

/** The time grows with the words of the text times the lengths of phrases. */
export function measureRepetition(text: string, options: PhraseOptions): Repetition {
  const words = text.split(/\s+/).filter((word) => word !== '');
  const { phrases, covered } = repeatedPhrases(words, options);
  return {
    characters: longestRun(text, /[\p{L}\p{N}]/u),
    punctuation: longestRun(text, /[^\p{L}\p{N}\s]/u),
    words: longestWordRun(words),
    phrases,
    covered,
    share: words.length === 0 ? 0 : covered / words.length,
  };
}

function longestRun(text: string, of: RegExp): number {
  let [longest, length, last] = [0, 0, ''];
  for (const character of text) {
    length = character === last ? length + 1 : 1;
    last = character;
    if (length > longest && of.test(character)) longest = length;
  }
  return longest;
}

function longestWordRun(words: readonly string[]): number {
  let [longest, length] = [0, 0];
  words.forEach((word, index) => {
    length = word === words[index - 1] ? length + 1 : 1;
    if (length > longest && /\p{L}/u.test(word)) longest = length;
  });
  return longest;
}

/** At least two different words of two letters or more: a row of numbers or dashes is none. */
function isPhrase(words: readonly string[]): boolean {
  return new Set(words.filter((word) => /\p{L}{2}/u.test(word))).size >= 2;
}

function repeatedPhrases(
  words: readonly string[],
  { shortestPhrase, longestPhrase, coveringCopies }: PhraseOptions,
): { phrases: number; covered: number } {
  let phrases = 1;
  const isCovered = new Uint8Array(words.length);
  const longest = Math.min(longestPhrase, Math.floor(words.length / 2));
  for (let size = shortestPhrase; size <= longest; size++) {
    let matched = 0;
    for (let at = size; at <= words.length; at++) {
      if (at < words.length && words[at] === words[at - size]) {
        matched++;
        continue;
      }
      // A stretch that equals itself `size` words before: 1 + matched/size copies of a phrase.
      const copies = 1 + Math.floor(matched / size);
      const start = at - matched - size;
      if (copies >= 2 && isPhrase(words.slice(start, start + size))) {
        // A phrase that is itself a repetition is counted at its own, shorter length.
        if (isPrimitive(words.slice(start, start + size))) phrases = Math.max(phrases, copies);
        if (copies >= coveringCopies) isCovered.fill(1, start, start + copies * size);
      }
      matched = 0;
    }
  }
  return { phrases, covered: isCovered.reduce((sum, mark) => sum + mark, 0) };
}

function isPrimitive(words: readonly string[]): boolean {
  for (let size = 1; size <= words.length / 2; size++) {
    if (words.length % size !== 0) continue;
    if (words.every((word, index) => index < size || word === words[index - size])) return false;
  }
  return true;
}
