/** Text to tokens and back, from `tokenizer.json`; text can never become a markup token. */

import { Tokenizer } from '@huggingface/tokenizers';
import { DataError } from '@saccade/core';
import { tokenBytes } from './byte-alphabet.ts';

type Json = Record<string, unknown>;

interface AddedToken {
  readonly id: number;
  readonly content: string;
}

export class TextCodec {
  /** Highest id + 1. */
  readonly vocabSize: number;
  readonly #tokenizer: Tokenizer;
  readonly #markup: ReadonlyMap<string, number>;
  readonly #bytes: readonly Uint8Array[];

  /** @throws DataError if the file is no byte-level BPE */
  constructor(tokenizerJson: Json) {
    const model = tokenizerJson.model as
      | { type?: string; vocab?: Record<string, number> }
      | undefined;
    if (model?.type !== 'BPE' || model.vocab === undefined) {
      throw new DataError('tokenizer.json holds no BPE model. Use a Qwen tokenizer.');
    }
    const added = (tokenizerJson.added_tokens ?? []) as readonly AddedToken[];
    // Without its added tokens the tokenizer reads "<|im_end|>" in a text as plain characters.
    this.#tokenizer = new Tokenizer({ ...tokenizerJson, added_tokens: [] }, {});
    this.#markup = new Map(added.map(({ id, content }) => [content, id]));
    const bytes: Uint8Array[] = [];
    for (const [token, id] of Object.entries(model.vocab)) bytes[id] = tokenBytes(token);
    for (const { id, content } of added) bytes[id] = new TextEncoder().encode(content);
    this.vocabSize = bytes.length;
    this.#bytes = Array.from(bytes, (b) => b ?? new Uint8Array());
  }

  /** Tokens of plain text. */
  encode(text: string): number[] {
    return text === '' ? [] : this.#tokenizer.encode(text, { add_special_tokens: false }).ids;
  }

  /** The id of a markup token such as `<|im_end|>`. @throws DataError if the tokenizer lacks it */
  markup(token: string): number {
    const id = this.#markup.get(token);
    if (id === undefined)
      throw new DataError(`The tokenizer has no "${token}". Use a Qwen tokenizer.`);
    return id;
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
