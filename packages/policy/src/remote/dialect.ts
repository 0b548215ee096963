/** Requests to an engine, and the protocols of two families of engines. */
import type { ModelImage } from '../batch.ts';
import { fullTruncation, type Truncation } from '../truncation.ts';
import { EngineError } from './engine-error.ts';
import type { EngineHttp } from './engine-http.ts';

/** An image as it is sent. */
export interface SentImage {
  readonly dataUrl: string;
  readonly tokenCount: number;
}

/** One request with all its options. */
export interface EngineRequest extends Truncation {
  /** The whole context, with one placeholder per visual feature. */
  readonly tokens: Int32Array;
  readonly images: readonly SentImage[];
  /** The placeholder token; absent for a model without vision. */
  readonly imageToken?: number;
  readonly maxTokens: number;
  readonly stop: readonly string[];
  readonly temperature: number;
  readonly seed: readonly [number, number];
  readonly session: string;
  readonly endOfTurn: number;
  readonly ignoreEndOfTurn: boolean;
}

/** An engine's answer, parsed but not yet checked. */
export interface EngineAnswer {
  readonly tokens: readonly number[];
  readonly logprobs: readonly number[];
  readonly reason: 'stop' | 'length' | 'abort';
  /** The prompt as the engine used it, with expanded placeholders; absent if it is not reported. */
  readonly promptTokens?: readonly number[];
  /** Version of the weights as their publisher named it; the oldest, if there were several. */
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
  /** Path that reloads weights from a directory. */
  readonly reloadPath: string;
  /** The user's remedy for each missing capability. */
  readonly remedies: Readonly<
    Record<
      'tokenIds' | 'temperedLogprobs' | 'truncatedLogprobs' | 'seeds' | 'images' | 'reloading',
      string
    >
  >;
}

/** The filters of a request under the names that both families have; −1 keeps tokens of all ranks. */
export function filtersOf(request: EngineRequest): {
  readonly top_k: number;
  readonly top_p: number;
  readonly min_p: number;
} {
  const { topK, topP, minP } = fullTruncation(request);
  return { top_k: topK === 0 ? -1 : topK, top_p: topP, min_p: minP };
}

/**
 * The context with one placeholder per image, which engines expand themselves.
 *
 * @throws EngineError if placeholders and images do not match. A model can write a placeholder
 *   itself, and an engine would take it for an image
 */
export function collapsePlaceholders({
  tokens,
  images,
  imageToken,
}: Pick<EngineRequest, 'tokens' | 'images' | 'imageToken'>): number[] {
  const collapsed: number[] = [];
  let imageIndex = 0;
  for (let i = 0; i < tokens.length; i++) {
    const token = tokens[i] as number;
    collapsed.push(token);
    if (token !== imageToken) continue;
    const count = images[imageIndex++]?.tokenCount ?? 0;
    const end = i + count;
    while (i + 1 < end && tokens[i + 1] === imageToken) i++;
    if (count > 0 && i + 1 === end) continue;
    throw new EngineError(
      'refused',
      `The context has more image placeholders than its ${images.length} images need: the model ` +
        'wrote one itself. An engine would take it for an image; roll it out locally.',
    );
  }
  if (imageIndex === images.length) return collapsed;
  throw new EngineError(
    'refused',
    `The context has placeholders of ${imageIndex} images, and ${images.length} came with it. ` +
      'Send every image of the context, in order.',
  );
}

const urls = new WeakMap<ModelImage, string>();

/** PNG or JPEG bytes as a data URL, cached per prepared image. */
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

/** The oldest of the numeric versions, or the first if none is numeric. */
export function oldestVersion(versions: readonly unknown[]): string | undefined {
  const texts = versions.flatMap((one) =>
    typeof one === 'string' || typeof one === 'number' ? [String(one)] : [],
  );
  const numbers = texts.filter((text) => /^\d+$/.test(text)).map(Number);
  return numbers.length > 0 ? String(Math.min(...numbers)) : texts[0];
}
