/** Text to tokens and back, from `tokenizer.json`; text can never become a control token. */

import { Tokenizer } from '@huggingface/tokenizers';
import { DataError, messageOf } from '@saccade/core';
import { tokenBytes } from './byte-alphabet.ts';
import type { Json } from './json-fields.ts';
import type { AddedToken } from './markup-scanner.ts';
import { RecentResults } from './recent-results.ts';

/** Above the vocabulary of any published model: an array is as long as the highest id. */
const MAX_ID = 2 ** 22;

/** @throws DataError naming the token whose id is none, too high, or that of another token */
function checkVocabulary(vocab: unknown, added: unknown): void {
  const broken = (why: string): DataError =>
    new DataError(`tokenizer.json is damaged: ${why}. Write or download it again.`);
  if (typeof vocab !== 'object' || vocab === null) throw broken('model.vocab is not an object');
  if (!Array.isArray(added)) throw broken('added_tokens is not a list');
  const tokens = new Map<number, string>();
  const check = (token: unknown, id: unknown): void => {
    const named = JSON.stringify(token);
    if (typeof token !== 'string')
      throw broken(`the token of id ${String(id)} is ${named}, no text`);
    if (typeof id !== 'number' || !Number.isInteger(id) || id < 0 || id >= MAX_ID) {
      const expected = `a whole number from 0 to ${MAX_ID - 1}`;
      throw broken(`the id of ${named} must be ${expected}, is ${JSON.stringify(id)}`);
    }
    const other = tokens.get(id);
    if (other !== undefined && other !== token) {
      throw broken(`${JSON.stringify(other)} and ${named} have the same id ${id}`);
    }
    tokens.set(id, token);
  };
  for (const [token, id] of Object.entries(vocab)) check(token, id);
  for (const one of added as readonly Partial<AddedToken>[]) check(one?.content, one?.id);
}

/** Each is a pair of tokens, or a text of two with a space between. */
function checkMerges(merges: unknown): void {
  const isMerge = (one: unknown): boolean =>
    Array.isArray(one)
      ? one.length === 2 && one.every((part) => typeof part === 'string')
      : typeof one === 'string' && one.includes(' ');
  const at = Array.isArray(merges) ? merges.findIndex((one) => !isMerge(one)) : 0;
  if (at === -1) return;
  const what = Array.isArray(merges) ? `merge ${at} is no pair of tokens` : 'merges is no list';
  throw new DataError(`tokenizer.json is damaged: ${what}. Write or download it again.`);
}

function openTokenizer(json: Json): Tokenizer {
  try {
    return new Tokenizer(json, {});
  } catch (cause) {
    throw new DataError(
      `tokenizer.json is damaged: ${messageOf(cause)}. Write or download it again.`,
      { cause },
    );
  }
}

/** The model without some tokens: a word that is in the vocabulary may be taken whole. */
function withoutWords(
  model: { readonly vocab?: Readonly<Record<string, number>> },
  tokens: readonly AddedToken[],
): Json {
  const { vocab = {} } = model;
  if (!tokens.some(({ content }) => content in vocab)) return model as Json;
  const contents = new Set(tokens.map(({ content }) => content));
  const rest = Object.entries(vocab).filter(([token]) => !contents.has(token));
  return { ...model, vocab: Object.fromEntries(rest) };
}

/** Whether a pre-tokenizer, or one in its sequence, turns bytes into characters. */
function isByteLevel(preTokenizer: unknown): boolean {
  return JSON.stringify(preTokenizer ?? null).includes('"ByteLevel"');
}

export class TextCodec {
  /** Highest id + 1. */
  readonly vocabSize: number;
  /** Tokens besides the vocabulary: control tokens, and words that are one token. */
  readonly added: readonly AddedToken[];
  readonly #tokenizer: Tokenizer;
  /** A run encodes the texts of its prompts over and over. */
  readonly #recent = new RecentResults<readonly number[]>();
  readonly #byName: ReadonlyMap<string, AddedToken>;
  readonly #bytes: readonly Uint8Array[];

  /**
   * @param control  added tokens that no text may become, besides those that are special
   * @throws DataError if the file is no byte-level BPE
   */
  constructor(tokenizerJson: Json, control: readonly string[] = []) {
    const model = tokenizerJson.model as
      | { type?: string; vocab?: Record<string, number>; merges?: unknown }
      | undefined;
    if (model?.type !== 'BPE' || model.vocab === undefined) {
      throw new DataError('tokenizer.json holds no BPE model. Use a Qwen tokenizer.');
    }
    if (!isByteLevel(tokenizerJson.pre_tokenizer)) {
      throw new DataError(
        'tokenizer.json: pre_tokenizer must be ByteLevel, or have it in its sequence. Use a ' +
          'tokenizer of bytes, such as those of Qwen, InternVL3 and SmolVLM.',
      );
    }
    const added = (tokenizerJson.added_tokens ?? []) as readonly AddedToken[];
    checkVocabulary(model.vocab, added);
    checkMerges(model.merges);
    this.added = added;
    const isControl = ({ content, special }: AddedToken): boolean =>
      special === true || control.includes(content);
    // Without its control tokens the tokenizer reads "<|im_end|>" in a text as plain characters.
    this.#tokenizer = openTokenizer({
      ...tokenizerJson,
      added_tokens: added.filter((token) => !isControl(token)),
      model: withoutWords(model, added.filter(isControl)),
    });
    this.#byName = new Map(added.map((token) => [token.content, token]));
    const bytes: Uint8Array[] = [];
    for (const [token, id] of Object.entries(model.vocab)) bytes[id] = tokenBytes(token);
    for (const { id, content } of added) bytes[id] = new TextEncoder().encode(content);
    this.vocabSize = bytes.length;
    this.#bytes = Array.from(bytes, (b) => b ?? new Uint8Array());
  }

  /** Tokens of plain text: words such as `<tool_call>` are one token, control tokens are not. */
  encode(text: string): number[] {
    if (text === '') return [];
    const encode = () => this.#tokenizer.encode(text, { add_special_tokens: false }).ids;
    return [...this.#recent.of(text, encode)];
  }

  /** The id of an added token such as `<|im_end|>`. @throws DataError if the tokenizer lacks it */
  markup(token: string): number {
    const found = this.find(token);
    if (found !== undefined) return found.id;
    throw new DataError(`The tokenizer has no "${token}". Use the tokenizer of the checkpoint.`);
  }

  /** An added token by name, or undefined. */
  find(token: string): AddedToken | undefined {
    return this.#byName.get(token);
  }

  /** Bytes one token stands for; a markup token stands for its name. */
  bytesOf(token: number): Uint8Array {
    return this.#bytes[token] ?? new Uint8Array();
  }

  /** Text of tokens; bytes that are no UTF-8 become �. */
  decode(tokens: ArrayLike<number>): string {
    const parts = Array.from(tokens, (token) => this.bytesOf(token));
    const joined = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
    let offset = 0;
    for (const part of parts) {
      joined.set(part, offset);
      offset += part.length;
    }
    return new TextDecoder().decode(joined);
  }
}
