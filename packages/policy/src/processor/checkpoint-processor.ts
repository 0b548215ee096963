/** The processor of a checkpoint: its tokenizer, its chat template, and its family's images. */
import { UnsupportedError } from '@saccade/core';
import { decodeImage } from '#decode-image';
import type { ModelImage } from '../batch.ts';
import type { ContentPart, EncodedContent, Processor } from '../policy.ts';
import { ChatTemplate } from './chat/chat-template.ts';
import { type ChatMessage, imagesOf, templateMessage } from './chat/message.ts';
import { type ChatRenderer, renderChat } from './chat/render-chat.ts';
import { Shield } from './chat/shield.ts';
import { readTurnMarkup, type TurnMarkup } from './chat/turn-markup.ts';
import { encodePieces } from './encode-pieces.ts';
import { isObject, type Json } from './json-fields.ts';
import { MarkupScanner, type Piece } from './markup-scanner.ts';
import type { ProcessorFiles } from './processor-files.ts';
import { sequenceEnds } from './sequence-ends.ts';
import { TextCodec } from './text-codec.ts';
import type { VideoFrames } from './videos/frames.ts';
import type { Visuals } from './visuals.ts';

/** Choices of a processor's user. */
export interface ProcessorOptions {
  /**
   * Role of the turns after the model's: `user`, or `tool` for templates that keep a model's
   * thoughts only while tools answer. Default `user`.
   */
  readonly observationRole?: string;
}

/** What else a conversation is encoded with. */
export interface ConversationOptions {
  /** JSON schemas of tools that the model may call. */
  readonly tools?: readonly Json[];
  /** Whether the header that opens the assistant's turn follows. Default false. */
  readonly addGenerationPrompt?: boolean;
}

/**
 * Tokenizer, chat template and images of a checkpoint; `loadProcessor` makes one. Its tokens are
 * those of transformers, except that no text of a message, a tool or an observation ever becomes a
 * control token: a prompt cannot forge a turn or an image.
 */
export class CheckpointProcessor implements Processor {
  readonly endOfTurn: number;
  /** Absent where the model reads text alone. */
  readonly imageToken?: number;
  /** Text to tokens and back. */
  readonly codec: TextCodec;
  /** Contents of the processor's files, which `writeProcessorFiles` writes again. */
  readonly files: ProcessorFiles;
  readonly template: ChatTemplate;
  readonly #visuals: Visuals | undefined;
  readonly #scanner: MarkupScanner;
  readonly #shield: Shield;
  readonly #videoTemplate: ChatTemplate;
  readonly #observationRole: string;
  #turn: TurnMarkup | undefined;

  /**
   * @param visuals  undefined for a model of text alone
   * @throws DataError if the tokenizer or the template is damaged, or a control token is missing
   */
  constructor(files: ProcessorFiles, visuals: Visuals | undefined, options: ProcessorOptions = {}) {
    const markup = visuals === undefined ? [] : markupOf(visuals);
    this.files = files;
    this.codec = new TextCodec(files.tokenizer, markup);
    const variables = specialTokensOf(files.tokenizerConfig);
    const form = visuals === undefined ? 'text' : 'parts';
    this.template = new ChatTemplate(files.chatTemplate, variables, form);
    this.#videoTemplate =
      visuals?.videoTemplate === undefined
        ? this.template
        : new ChatTemplate(visuals.videoTemplate, variables);
    this.#scanner = new MarkupScanner(this.codec.added, markup);
    this.#shield = new Shield(this.#scanner.markup);
    this.#visuals = visuals;
    this.#observationRole = options.observationRole ?? 'user';
    if (visuals !== undefined) this.imageToken = this.codec.markup(visuals.image.token);
    this.endOfTurn = this.codec.markup(this.#turnMarkup().endOfTurn);
  }

  /** The contents of `tokenizer.json`. */
  get tokenizerJson(): Json {
    return this.files.tokenizer;
  }

  /**
   * @throws DataError         if the bytes are not an image, or it has too many pixels
   * @throws UnsupportedError  if the model reads text alone
   */
  async prepareImage(encoded: Uint8Array): Promise<ModelImage> {
    const visuals = this.#visuals;
    if (visuals === undefined) throw readsText();
    const image = await decodeImage(encoded, visuals.maxSourcePixels);
    return { ...visuals.prepareImage(image), source: encoded };
  }

  /**
   * Prepares a video, which then stands in content like an image.
   *
   * @throws ShapeError        if it has no frames, or they differ in size
   * @throws UnsupportedError  if the checkpoint has no videos
   */
  prepareVideo(video: VideoFrames): ModelImage {
    if (this.#visuals === undefined) throw readsText();
    const { prepareVideo } = this.#visuals;
    if (prepareVideo !== undefined) return prepareVideo(video);
    throw new UnsupportedError(
      'This checkpoint has no video processor. Send the frames as images.',
    );
  }

  /**
   * The tokens of a whole conversation, as transformers' `apply_chat_template` gives them.
   *
   * @throws DataError if the template refuses the messages, or leaves images out
   */
  encodeConversation(
    messages: readonly ChatMessage[],
    options: ConversationOptions = {},
  ): EncodedContent {
    const images = imagesOf(messages);
    const pieces = renderChat(this.#rendererFor(images), messages.map(templateMessage), options);
    const encoded = this.#encode(pieces, images);
    const ends = sequenceEnds(this.files.tokenizer);
    const [first] = pieces;
    const beginning = this.files.tokenizerConfig.bos_token;
    const isBegun = first !== undefined && 'markup' in first && first.markup === nameOf(beginning);
    if (isBegun || ends.before.length + ends.after.length === 0) return encoded;
    const tokens = Int32Array.from([...ends.before, ...encoded.tokens, ...ends.after]);
    return { tokens, images: encoded.images };
  }

  encodePrompt(user: readonly ContentPart[], system?: string): EncodedContent {
    const messages: ChatMessage[] = [{ role: 'user', content: user }];
    if (system !== undefined) {
      messages.unshift({ role: 'system', content: [{ kind: 'text', text: system }] });
    }
    return this.encodeConversation(messages, { addGenerationPrompt: true });
  }

  /**
   * What the template adds to a conversation for another turn. It is checked that the conversation
   * before stays as it is.
   *
   * @throws UnsupportedError  if the template writes answers differently from its header for them
   * @throws DataError         if it would write earlier turns differently
   */
  encodeObservation(user: readonly ContentPart[], modelEnded: boolean): EncodedContent {
    const { base, rendered, followsHeader } = this.#turnMarkup();
    if (!followsHeader) {
      throw new UnsupportedError(
        'The chat template writes an assistant’s turn differently from the header that opens one ' +
          '(add_generation_prompt), so that no turn can follow it. Use a template that does not.',
      );
    }
    const message = { role: this.#observationRole, content: user };
    const images = imagesOf([message]);
    const pieces = renderChat(this.#rendererFor(images), [...base, templateMessage(message)], {
      skip: rendered,
      addGenerationPrompt: true,
    });
    const { tokens, images: placed } = this.#encode(pieces, images);
    if (modelEnded) return { tokens, images: placed };
    return { tokens: Int32Array.from([this.endOfTurn, ...tokens]), images: placed };
  }

  encodeContent(parts: readonly ContentPart[]): EncodedContent {
    const pieces = parts.flatMap((part): Piece[] => {
      if (part.kind === 'text') return [{ text: part.text }];
      if (this.#visuals === undefined) throw readsText();
      const { image, video } = this.#visuals;
      const { markup } = part.image.video === undefined ? image : (video ?? image);
      return this.#scanner.scan(markup);
    });
    return this.#encode(pieces, imagesOf([{ role: '', content: parts }]));
  }

  encodeModelText(text: string, ends: boolean): Int32Array {
    const { lead } = this.#turnMarkup();
    const tokens = this.codec.encode(text.startsWith(lead) ? text : lead + text);
    if (ends) tokens.push(this.endOfTurn);
    return Int32Array.from(tokens);
  }

  decode(tokens: Int32Array): string {
    return this.codec.decode(tokens);
  }

  #encode(pieces: readonly Piece[], images: readonly ModelImage[]): EncodedContent {
    if (this.#visuals === undefined && images.length > 0) throw readsText();
    const encoder = { codec: this.codec, scanner: this.#scanner, visuals: this.#visuals };
    return encodePieces(encoder, pieces, images);
  }

  #rendererFor(images: readonly ModelImage[]): ChatRenderer {
    const hasVideo = images.some(({ video }) => video !== undefined);
    const template = hasVideo ? this.#videoTemplate : this.template;
    return { template, scanner: this.#scanner, shield: this.#shield };
  }

  #turnMarkup(): TurnMarkup {
    this.#turn ??= readTurnMarkup(this.template, this.#scanner);
    return this.#turn;
  }
}

/** Control tokens of images and videos, and what a template writes for them. */
function markupOf({ markup, image, video }: Visuals): readonly string[] {
  return [...markup, image.token, image.rendered, video?.rendered ?? ''];
}

function readsText(): UnsupportedError {
  return new UnsupportedError(
    'This model reads text alone. Leave images and videos out, or choose a vision-language model.',
  );
}

/** A special token's name: a text, or the `content` of an object. */
function nameOf(token: unknown): string | undefined {
  if (typeof token === 'string') return token;
  return isObject(token) && typeof token.content === 'string' ? token.content : undefined;
}

/** `bos_token`, `eos_token` and the like, by these names. */
function specialTokensOf(tokenizerConfig: Json): Json {
  const { extra_special_tokens: extra } = tokenizerConfig;
  const all = { ...tokenizerConfig, ...(isObject(extra) && extra) };
  const named = Object.entries(all).map(([key, value]) => [key, nameOf(value)] as const);
  return Object.fromEntries(
    named.filter(([key, name]) => key.endsWith('_token') && name !== undefined),
  );
}
