/** Trains a small byte-level BPE on a corpus and writes it as Hugging Face's `tokenizer.json`. */
import { ConfigError } from '@saccade/core';
import { byteCharacters } from './byte-alphabet.ts';
import { learnMerges } from './learn-merges.ts';

/** Control tokens of the Qwen families, in the order of their ids. */
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
 * Ties go to the pair of the older symbols: the same corpus gives the same file.
 *
 * @param vocabSize      tokens in all: control tokens, 256 bytes, merges
 * @param controlTokens  in the order of their ids; default: those of the Qwen families
 * @throws ConfigError if `vocabSize` has no room for the bytes and the control tokens
 */
export function trainTokenizer(
  corpus: readonly string[],
  vocabSize: number,
  controlTokens: readonly string[] = specialTokens,
): Record<string, unknown> {
  const mergeCount = vocabSize - controlTokens.length - 256;
  if (mergeCount < 0) {
    throw new ConfigError(
      'vocabSize',
      `vocabSize must be at least ${controlTokens.length + 256}, got ${vocabSize}.`,
    );
  }
  const merges = learnMerges(corpus, mergeCount);
  const vocabulary: Record<string, number> = {};
  let id = controlTokens.length;
  for (const character of byteCharacters) vocabulary[character] = id++;
  for (const [left, right] of merges) vocabulary[left + right] ??= id++;
  return {
    version: '1.0',
    truncation: null,
    padding: null,
    added_tokens: controlTokens.map((content, index) => ({
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
      vocab: { ...Object.fromEntries(controlTokens.map((t, i) => [t, i])), ...vocabulary },
      merges,
    },
  };
}
