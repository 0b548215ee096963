/** A processor that tests can read: one token per character and four per image. */
import type { ContentPart, EncodedContent, ModelImage, Processor } from '@saccade/policy';

export const imageToken = 1;
export const endOfTurn = 2;

/** One token per character and four per image. */
export class CharacterProcessor implements Processor {
  readonly endOfTurn = endOfTurn;
  async prepareImage(): Promise<ModelImage> {
    const patches = new Float32Array(4);
    return { patches, gridHeight: 2, gridWidth: 2, tokenCount: 4, width: 56, height: 56 };
  }
  encodePrompt(user: readonly ContentPart[]): EncodedContent {
    return this.#encode(user);
  }
  encodeObservation(user: readonly ContentPart[], modelEnded: boolean): EncodedContent {
    return this.#encode([{ kind: 'text', text: modelEnded ? '|' : '$|' }, ...user]);
  }
  encodeContent(parts: readonly ContentPart[]): EncodedContent {
    return this.#encode(parts);
  }
  encodeModelText(text: string, ends: boolean): Int32Array {
    const codes = Array.from(text, (character) => character.charCodeAt(0));
    return Int32Array.from(ends ? [...codes, endOfTurn] : codes);
  }
  decode(tokens: Int32Array): string {
    return Array.from(tokens, (token) => (token > 2 ? String.fromCharCode(token) : '')).join('');
  }
  #encode(parts: readonly ContentPart[]): EncodedContent {
    const images = parts.flatMap((part) => (part.kind === 'image' ? [part.image] : []));
    const tokens = parts.flatMap((part) =>
      part.kind === 'text'
        ? [...this.encodeModelText(part.text, false)]
        : new Array<number>(part.image.tokenCount).fill(imageToken),
    );
    return { tokens: Int32Array.from(tokens), images };
  }
}
