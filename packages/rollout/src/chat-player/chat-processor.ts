/** A processor for models behind a chat API: its tokens hold text and images, and read back as messages. */
import type { ChatMessage, ChatPart } from '@saccade/chat';
import { DataError, importOptional } from '@saccade/core';
import type { ContentPart, EncodedContent, ModelImage, Processor } from '@saccade/policy';
import { encodeText, isText, mark, textOf } from './text-tokens.ts';

/** How images are sent, and what they count for. */
export interface ChatImageOptions {
  /** Larger images are shrunk to so many pixels before they are sent. Default: none is. */
  readonly maxPixels?: number;
  /** Pixels that count as one token of the context. */
  readonly pixelsPerToken: number;
  /** Most tokens that an image counts for. */
  readonly maxTokens: number;
}

const names: Readonly<Record<number, string>> = {
  [mark.end]: '<|end|>\n',
  [mark.system]: '<|system|>\n',
  [mark.user]: '<|user|>\n',
  [mark.assistant]: '<|assistant|>\n',
  [mark.image]: '',
};

/**
 * Encodes a conversation so that `messagesOf` gives it back: text character by character, images by
 * their bytes. No model has these tokens; trajectories are marked `bytes`, and nothing trains on them.
 */
export class ChatProcessor implements Processor {
  readonly endOfTurn: number = mark.end;
  readonly imageToken: number = mark.image;
  readonly tokenSource = 'bytes';
  readonly #options: ChatImageOptions;
  readonly #encoded = new WeakMap<ModelImage, Uint8Array>();

  constructor(options: ChatImageOptions) {
    this.#options = options;
  }

  /** @throws DataError if the bytes are no image */
  async prepareImage(encoded: Uint8Array): Promise<ModelImage> {
    const { maxPixels = Number.POSITIVE_INFINITY, pixelsPerToken, maxTokens } = this.#options;
    const { bytes, width, height } = await fitImage(encoded, maxPixels);
    const tokenCount = Math.min(maxTokens, Math.ceil((width * height) / pixelsPerToken));
    const patches = new Float32Array(0);
    const image = { patches, gridHeight: 1, gridWidth: tokenCount, tokenCount, width, height };
    this.#encoded.set(image, bytes);
    return image;
  }

  encodePrompt(user: readonly ContentPart[], system?: string): EncodedContent {
    const head = system === undefined ? [] : [mark.system, ...encodeText(system), mark.end];
    return turn(head, user);
  }

  encodeObservation(user: readonly ContentPart[], modelEnded: boolean): EncodedContent {
    return turn(modelEnded ? [] : [mark.end], user);
  }

  encodeContent(parts: readonly ContentPart[]): EncodedContent {
    return content(parts);
  }

  encodeModelText(text: string, ends: boolean): Int32Array {
    return Int32Array.from(ends ? [...encodeText(text), mark.end] : encodeText(text));
  }

  decode(tokens: Int32Array): string {
    return Array.from(tokens, (token) =>
      isText(token) ? textOf(token) : (names[token] ?? '�'),
    ).join('');
  }

  /**
   * The messages of a context, the one that the assistant has begun last, if it has said anything.
   *
   * @throws DataError if the context or an image is not of this processor
   */
  messagesOf(tokens: Int32Array, images: readonly ModelImage[]): readonly ChatMessage[] {
    const turns = readTurns(tokens, images).map(({ role, parts }) => ({
      role,
      parts: parts.map((part): ChatPart => {
        return part.kind === 'text' ? part : { kind: 'image', png: this.#bytesOf(part.image) };
      }),
    }));
    return turns.filter(({ role, parts }) => role !== 'assistant' || parts.length > 0);
  }

  #bytesOf(image: ModelImage | undefined): Uint8Array {
    const bytes = image && this.#encoded.get(image);
    if (bytes === undefined) throw foreign('an image');
    return bytes;
  }
}

/** One turn of a context: who speaks, and text and images in order. */
export interface ReadTurn<Image> {
  readonly role: 'system' | 'user' | 'assistant';
  readonly parts: readonly (
    | { readonly kind: 'text'; readonly text: string }
    | { readonly kind: 'image'; readonly image: Image }
  )[];
}

/**
 * The turns of a context of a `ChatProcessor`, empty ones too.
 *
 * @param images those of the placeholders, in order
 * @throws DataError if the tokens are another processor's
 */
export function readTurns<Image extends { readonly tokenCount: number }>(
  tokens: Int32Array,
  images: readonly Image[],
): readonly ReadTurn<Image>[] {
  const turns: { role: ReadTurn<Image>['role']; parts: ReadTurn<Image>['parts'][number][] }[] = [];
  let text = '';
  let next = 0;
  const flush = (): void => {
    if (text !== '') turns.at(-1)?.parts.push({ kind: 'text', text });
    text = '';
  };
  for (let at = 0; at < tokens.length; at++) {
    const token = tokens[at] as number;
    const role = roles.get(token);
    if (isText(token)) text += textOf(token);
    else if (role !== undefined) {
      flush();
      turns.push({ role, parts: [] });
    } else if (token === mark.end) flush();
    else if (token === mark.image) {
      flush();
      const image = images[next++];
      if (image === undefined) throw foreign('an image');
      turns.at(-1)?.parts.push({ kind: 'image', image });
      at += image.tokenCount - 1;
    } else throw foreign(`token ${token}`);
  }
  flush();
  return turns;
}

const roles: ReadonlyMap<number, ReadTurn<unknown>['role']> = new Map([
  [mark.system, 'system'],
  [mark.user, 'user'],
  [mark.assistant, 'assistant'],
]);

function foreign(what: string): DataError {
  return new DataError(
    `The context holds ${what} that this processor did not make. Encode it with the player's own ` +
      'processor, and share ModelImages only between rollouts of one player.',
  );
}

function turn(head: readonly number[], user: readonly ContentPart[]): EncodedContent {
  const { tokens, images } = content(user);
  return {
    tokens: Int32Array.from([...head, mark.user, ...tokens, mark.end, mark.assistant]),
    images,
  };
}

function content(parts: readonly ContentPart[]): EncodedContent {
  const tokens: number[] = [];
  for (const part of parts) {
    if (part.kind === 'text') for (const token of encodeText(part.text)) tokens.push(token);
    else for (let i = 0; i < part.image.tokenCount; i++) tokens.push(mark.image);
  }
  const images = parts.flatMap((part) => (part.kind === 'image' ? [part.image] : []));
  return { tokens: Int32Array.from(tokens), images };
}

const PNG = [0x89, 0x50, 0x4e, 0x47];

/** An image of at most so many pixels, with its size. The bytes stay as they are where it fits. */
async function fitImage(
  encoded: Uint8Array,
  maxPixels: number,
): Promise<{ readonly bytes: Uint8Array; readonly width: number; readonly height: number }> {
  const isPng = PNG.every((byte, at) => encoded[at] === byte) && encoded.length >= 24;
  const view = new DataView(encoded.buffer, encoded.byteOffset, encoded.byteLength);
  const size = isPng && { width: view.getUint32(16), height: view.getUint32(20) };
  if (size && size.width > 0 && size.height > 0 && size.width * size.height <= maxPixels) {
    return { bytes: encoded, ...size };
  }
  const { default: sharp } = await importOptional(
    'sharp@0.35',
    'Shrinking an image for a chat server',
    () => import('sharp'),
  );
  try {
    const { width, height } = await sharp(encoded).metadata();
    const scale = Math.min(1, Math.sqrt(maxPixels / (width * height)));
    if (scale === 1) return { bytes: encoded, width, height };
    const [w, h] = [width, height].map((side) => Math.max(1, Math.floor(side * scale)));
    const shrunk = sharp(encoded).resize(w, h, { fit: 'fill' }).png();
    const { data, info } = await shrunk.toBuffer({ resolveWithObject: true });
    return { bytes: new Uint8Array(data), width: info.width, height: info.height };
  } catch (cause) {
    throw new DataError('An image of the conversation cannot be read. Give PNG or JPEG bytes.', {
      cause,
    });
  }
}
