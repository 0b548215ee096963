/** Trains a small byte-level BPE on a corpus and writes it as Hugging Face's `tokenizer.json`. */
import { ConfigError } from '@saccade/core';
import { byteCharacters, toByteCharacters } from './byte-alphabet.ts';

/** Markup tokens of the chat format, in the order of their ids. */
export const specialTokens = [
  '<|endoftext|>',
  '<|im_start|>',
  '<|im_end|>',
  '<|vision_start|>',
  '<|vision_end|>',
  '<|image_pad|>',
  '<|video_pad|>',
] as const;

/**
 * Byte-pair encoding, Sennrich et al. 2016, arXiv:1508.07909, on bytes. Digits stay single tokens;
 * all else may merge across spaces and punctuation, so recurring template text becomes one token.
 * Ties go to the pair that comes first in alphabetical order: the same corpus gives the same file.
 *
 * @param vocabSize  tokens in all: specials, 256 bytes, merges
 * @throws ConfigError if `vocabSize` has no room for the bytes and the special tokens
 */
export function trainTokenizer(
  corpus: readonly string[],
  vocabSize: number,
): Record<string, unknown> {
  const mergeCount = vocabSize - specialTokens.length - 256;
  if (mergeCount < 0) {
    throw new ConfigError(
      'vocabSize',
      `vocabSize must be at least ${specialTokens.length + 256}, got ${vocabSize}.`,
    );
  }
  const words = countWords(corpus);
  const merges: [string, string][] = [];
  while (merges.length < mergeCount) {
    const best = mostFrequentPair(words);
    if (best === undefined) break;
    merges.push(best);
    for (const word of words) word.symbols = merged(word.symbols, best);
  }
  const vocabulary: Record<string, number> = {};
  let id = specialTokens.length;
  for (const character of byteCharacters) vocabulary[character] = id++;
  for (const [left, right] of merges) vocabulary[left + right] ??= id++;
  return {
    version: '1.0',
    truncation: null,
    padding: null,
    added_tokens: specialTokens.map((content, index) => ({
      id: index,
      content,
      single_word: false,
      lstrip: false,
      rstrip: false,
      normalized: false,
      special: true,
    })),
    normalizer: null,
    pre_tokenizer: {
      type: 'Sequence',
      pretokenizers: [
        { type: 'Split', pattern: { Regex: '[0-9]' }, behavior: 'Isolated', invert: false },
        { type: 'ByteLevel', add_prefix_space: false, trim_offsets: false, use_regex: false },
      ],
    },
    post_processor: null,
    decoder: { type: 'ByteLevel', add_prefix_space: false, trim_offsets: false, use_regex: false },
    model: {
      type: 'BPE',
      dropout: null,
      unk_token: null,
      continuing_subword_prefix: null,
      end_of_word_suffix: null,
      fuse_unk: false,
      byte_fallback: false,
      ignore_merges: false,
      vocab: { ...Object.fromEntries(specialTokens.map((t, i) => [t, i])), ...vocabulary },
      merges,
    },
  };
}

interface Word {
  symbols: string[];
  readonly count: number;
}

function countWords(corpus: readonly string[]): Word[] {
  const counts = new Map<string, number>();
  for (const text of corpus) {
    for (const piece of text.split(/([0-9])/)) {
      if (piece.length > 1) counts.set(piece, (counts.get(piece) ?? 0) + 1);
    }
  }
  return [...counts].map(([piece, count]) => ({ symbols: [...toByteCharacters(piece)], count }));
}

function mostFrequentPair(words: readonly Word[]): [string, string] | undefined {
  const counts = new Map<string, number>();
  for (const { symbols, count } of words) {
    for (let i = 0; i + 1 < symbols.length; i++) {
      // A space never stands for a byte, so it separates the two halves of the key.
      const pair = `${symbols[i]} ${symbols[i + 1]}`;
      counts.set(pair, (counts.get(pair) ?? 0) + count);
    }
  }
  let best: string | undefined;
  let bestCount = 1;
  for (const [pair, count] of counts) {
    if (count > bestCount || (count === bestCount && best !== undefined && pair < best)) {
      best = pair;
      bestCount = count;
    }
  }
  return best?.split(' ') as [string, string] | undefined;
}

function merged(symbols: readonly string[], [left, right]: readonly [string, string]): string[] {
  const out: string[] = [];
  for (let i = 0; i < symbols.length; i++) {
    const symbol = symbols[i] as string;
    if (symbol === left && symbols[i + 1] === right) {
      out.push(left + right);
      i++;
    } else out.push(symbol);
  }
  return out;
}
