/** What the client asks of an engine, and how two families of engines are asked. */
import type { ModelImage } from '../batch.ts';
import { EngineError } from './engine-error.ts';
import type { EngineHttp } from './engine-http.ts';

/** An image as it travels. */
export interface SentImage {
  readonly dataUrl: string;
  readonly tokenCount: number;
}

/** One continuation, everything about it decided. */
export interface EngineRequest {
  /** The whole context, a placeholder per visual feature. */
  readonly tokens: Int32Array;
  readonly images: readonly SentImage[];
  /** The placeholder; absent for a model without eyes. */
  readonly imageToken?: number;
  readonly maxTokens: number;
  readonly stop: readonly string[];
  readonly temperature: number;
  readonly seed: readonly [number, number];
  readonly session: string;
  readonly endOfTurn: number;
  readonly ignoreEndOfTurn: boolean;
}

/** What an engine said, before anything of it is believed. */
export interface EngineAnswer {
  readonly tokens: readonly number[];
  readonly logprobs: readonly number[];
  readonly reason: 'stop' | 'length' | 'abort';
  /** The prompt as the engine had it, placeholders expanded; absent if it does not say. */
  readonly promptTokens?: readonly number[];
  /** As whoever published the weights called them, the oldest if there were several. */
  readonly weightVersion?: string;
}

/** The protocol of one family of engines. */
export interface Dialect {
  readonly name: 'vllm' | 'sglang';
  generate(
    http: EngineHttp,
    model: string,
    request: EngineRequest,
    signal?: AbortSignal,
  ): Promise<EngineAnswer>;
  /** What reloads weights from a directory. */
  readonly reloadPath: string;
  /** What a person does where something is missing. */
  readonly remedies: Readonly<
    Record<'tokenIds' | 'temperedLogprobs' | 'seeds' | 'pictures' | 'reloading', string>
  >;
}

/**
 * The context with one placeholder for every image: engines expand them by themselves.
 *
 * @throws EngineError if placeholders and images do not fit: a model can write the placeholder
 *   too, and an engine would take it for an image
 */
export function collapsePlaceholders({
  tokens,
  images,
  imageToken,
}: Pick<EngineRequest, 'tokens' | 'images' | 'imageToken'>): number[] {
  const collapsed: number[] = [];
  let picture = 0;
  for (let i = 0; i < tokens.length; i++) {
    const token = tokens[i] as number;
    collapsed.push(token);
    if (token !== imageToken) continue;
    const count = images[picture++]?.tokenCount ?? 0;
    const end = i + count;
    while (i + 1 < end && tokens[i + 1] === imageToken) i++;
    if (count > 0 && i + 1 === end) continue;
    throw new EngineError(
      'refused',
      `The context has more placeholders of pictures than its ${images.length} pictures need: the ` +
        'model wrote one itself. An engine would take it for a picture; roll it out locally.',
    );
  }
  if (picture === images.length) return collapsed;
  throw new EngineError(
    'refused',
    `The context has placeholders of ${picture} pictures, and ${images.length} came with it. ` +
      'Send every picture of the context, in order.',
  );
}

const urls = new WeakMap<ModelImage, string>();

/** PNG or JPEG bytes as a data URL, made once per prepared image. */
export function dataUrlOf(image: ModelImage, encoded: Uint8Array): string {
  let url = urls.get(image);
  if (url === undefined) {
    let binary = '';
    for (let at = 0; at < encoded.length; at += 0x8000) {
      binary += String.fromCharCode(...encoded.subarray(at, at + 0x8000));
    }
    url = `data:image/${encoded[0] === 0xff ? 'jpeg' : 'png'};base64,${btoa(binary)}`;
    urls.set(image, url);
  }
  return url;
}

/** The oldest of the versions that are numbers; the first if none is. */
export function oldestVersion(versions: readonly unknown[]): string | undefined {
  const texts = versions.flatMap((one) =>
    typeof one === 'string' || typeof one === 'number' ? [String(one)] : [],
  );
  const numbers = texts.filter((text) => /^\d+$/.test(text)).map(Number);
  return numbers.length > 0 ? String(Math.min(...numbers)) : texts[0];
}
