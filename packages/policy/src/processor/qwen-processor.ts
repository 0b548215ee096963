/** The processor of the Qwen2.5-VL family: chat markup, text codec, image processor. */
import type { ModelImage } from '../batch.ts';
import type { SpecialTokens } from '../models/model-size.ts';
import type { ContentPart, EncodedContent, Processor } from '../policy.ts';
import { type ImageProcessorConfig, prepareImage } from './image-processor.ts';
import { TextCodec } from './text-codec.ts';

/**
 * Tokenizer, chat markup and image processor of Qwen2.5-VL. Text never becomes a markup token, so a
 * prompt cannot forge a turn.
 */
export class QwenProcessor implements Processor {
  readonly endOfTurn: number;
  readonly imageToken: number;
  /** Text to tokens and back. */
  readonly codec: TextCodec;
  readonly images: ImageProcessorConfig;
  /** The contents of `tokenizer.json`, which `save` writes again. */
  readonly tokenizerJson: Record<string, unknown>;
  readonly tokens: SpecialTokens;
  readonly #startOfTurn: number;

  /** @throws DataError if the tokenizer is damaged or lacks a markup token of the chat format */
  constructor(tokenizerJson: Record<string, unknown>, images: ImageProcessorConfig) {
    this.tokenizerJson = tokenizerJson;
    this.images = images;
    this.codec = new TextCodec(tokenizerJson);
    this.endOfTurn = this.codec.markup('<|im_end|>');
    this.#startOfTurn = this.codec.markup('<|im_start|>');
    this.tokens = {
      imageToken: this.codec.markup('<|image_pad|>'),
      videoToken: this.codec.markup('<|video_pad|>'),
      visionStartToken: this.codec.markup('<|vision_start|>'),
      visionEndToken: this.codec.markup('<|vision_end|>'),
    };
    this.imageToken = this.tokens.imageToken;
  }

  prepareImage(encoded: Uint8Array): Promise<ModelImage> {
    return prepareImage(encoded, this.images);
  }

  encodePrompt(user: readonly ContentPart[], system?: string): EncodedContent {
    const tokens: number[] = [];
    const images: ModelImage[] = [];
    if (system !== undefined)
      this.#turn('system', [{ kind: 'text', text: system }], tokens, images);
    this.#turn('user', user, tokens, images);
    this.#openAssistant(tokens);
    return { tokens: Int32Array.from(tokens), images };
  }

  encodeObservation(user: readonly ContentPart[], modelEnded: boolean): EncodedContent {
    const tokens: number[] = modelEnded ? [] : [this.endOfTurn];
    const images: ModelImage[] = [];
    tokens.push(...this.codec.encode('\n'));
    this.#turn('user', user, tokens, images);
    this.#openAssistant(tokens);
    return { tokens: Int32Array.from(tokens), images };
  }

  encodeContent(parts: readonly ContentPart[]): EncodedContent {
    const tokens: number[] = [];
    const images: ModelImage[] = [];
    this.#content(parts, tokens, images);
    return { tokens: Int32Array.from(tokens), images };
  }

  encodeModelText(text: string, ends: boolean): Int32Array {
    const tokens = this.codec.encode(text);
    if (ends) tokens.push(this.endOfTurn);
    return Int32Array.from(tokens);
  }

  decode(tokens: Int32Array): string {
    return this.codec.decode(tokens);
  }

  #turn(role: string, parts: readonly ContentPart[], tokens: number[], images: ModelImage[]): void {
    tokens.push(this.#startOfTurn);
    this.#content([{ kind: 'text', text: `${role}\n` }, ...parts], tokens, images);
    tokens.push(this.endOfTurn, ...this.codec.encode('\n'));
  }

  /** Adjacent texts are encoded as one, since their boundary need not be one of tokens. */
  #content(parts: readonly ContentPart[], tokens: number[], images: ModelImage[]): void {
    let text = '';
    for (const part of parts) {
      if (part.kind === 'text') {
        text += part.text;
        continue;
      }
      tokens.push(...this.codec.encode(text), this.tokens.visionStartToken);
      text = '';
      for (let i = 0; i < part.image.tokenCount; i++) tokens.push(this.tokens.imageToken);
      tokens.push(this.tokens.visionEndToken);
      images.push(part.image);
    }
    tokens.push(...this.codec.encode(text));
  }

  #openAssistant(tokens: number[]): void {
    tokens.push(this.#startOfTurn, ...this.codec.encode('assistant\n'));
  }
}
