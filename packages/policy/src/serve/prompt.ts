/** Prompts as engines take them: token ids or text, and pictures as data URLs. */
import type { ModelImage } from '../batch.ts';
import type { Processor } from '../policy.ts';
import { Refusal } from './refusal.ts';

/** Prepared pictures that are kept; a conversation sends its pictures with every turn. */
const MOST_PICTURES = 256;

export class PromptReader {
  readonly #processor: Processor;
  readonly #pictures = new Map<string, Promise<ModelImage>>();

  constructor(processor: Processor) {
    this.#processor = processor;
  }

  /** @throws Refusal for text that is empty */
  textTokens(text: string): Int32Array {
    const { tokens } = this.#processor.encodeContent([{ kind: 'text', text }]);
    if (tokens.length === 0) throw new Refusal('The prompt is empty.');
    return tokens;
  }

  /**
   * Token ids with one placeholder per picture, as the model takes them.
   *
   * @throws Refusal if placeholders and pictures do not fit, or a picture cannot be read
   */
  async withPictures(
    ids: readonly number[],
    dataUrls: readonly string[],
  ): Promise<{ readonly tokens: Int32Array; readonly images: readonly ModelImage[] }> {
    const { imageToken } = this.#processor;
    if (dataUrls.length === 0) return { tokens: Int32Array.from(ids), images: [] };
    if (imageToken === undefined) throw new Refusal('This model takes no pictures.');
    const placeholders = ids.filter((id) => id === imageToken).length;
    if (placeholders !== dataUrls.length) {
      throw new Refusal(
        `The prompt has ${placeholders} placeholders (token ${imageToken}) for ` +
          `${dataUrls.length} pictures. Send one for each.`,
      );
    }
    const images = await Promise.all(dataUrls.map((url) => this.#prepare(url)));
    let next = 0;
    const tokens = ids.flatMap((id) =>
      id === imageToken
        ? new Array<number>(images[next++]?.tokenCount ?? 0).fill(imageToken)
        : [id],
    );
    return { tokens: Int32Array.from(tokens), images };
  }

  #prepare(url: string): Promise<ModelImage> {
    const known = this.#pictures.get(url);
    this.#pictures.delete(url);
    const picture = known ?? this.#decode(url);
    // A picture that cannot be read is not kept.
    picture.catch(() => this.#pictures.delete(url));
    this.#pictures.set(url, picture);
    const [oldest] = this.#pictures.keys();
    if (this.#pictures.size > MOST_PICTURES && oldest !== undefined) this.#pictures.delete(oldest);
    return picture;
  }

  async #decode(url: string): Promise<ModelImage> {
    const [, base64] = /^data:image\/[a-z+.-]+;base64,([A-Za-z0-9+/=]+)$/.exec(url) ?? [];
    if (base64 === undefined) {
      throw new Refusal('A picture must be a data URL: data:image/png;base64,…');
    }
    try {
      return await this.#processor.prepareImage(new Uint8Array(Buffer.from(base64, 'base64')));
    } catch (error) {
      throw new Refusal(error instanceof Error ? error.message : String(error));
    }
  }
}
