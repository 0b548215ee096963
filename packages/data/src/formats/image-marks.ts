/** `<image>` in a text, where formats keep their images in a list beside it. */
import type { Message, MessagePart } from '@saccade/trajectory';
import { RowRefused } from './format.ts';

const MARK = '<image>';

/** The content of a message as a text with a mark for each image; the images are passed on. */
export function markedText(message: Message, onImage: (png: Uint8Array) => void): string {
  return partsOf(message)
    .map((part) => {
      if (part.type === 'text') {
        if (!part.text.includes(MARK)) return part.text;
        throw new RowRefused('a text holds <image>, which the format would take for an image');
      }
      if (part.type === 'image_url') throw new RowRefused('an image was not loaded');
      onImage(part.image);
      return MARK;
    })
    .join('');
}

/** The parts of a message. */
export function partsOf({ content }: Message): readonly MessagePart[] {
  if (typeof content === 'string') return content === '' ? [] : [{ type: 'text', text: content }];
  return content ?? [];
}

/** Reads marked texts, which take the images of a row in order. */
export class MarkedImages {
  readonly #images: readonly Uint8Array[];
  #next = 0;

  constructor(images: readonly Uint8Array[]) {
    this.#images = images;
  }

  /** The content that a text stands for. @throws RowRefused if there are more marks than images */
  content(text: string): string | readonly MessagePart[] {
    if (!text.includes(MARK)) return text;
    return text.split(MARK).flatMap((piece, index): readonly MessagePart[] => {
      const said: readonly MessagePart[] = piece === '' ? [] : [{ type: 'text', text: piece }];
      if (index === 0) return said;
      const image = this.#images[this.#next++];
      if (image === undefined) {
        throw new RowRefused(`it has more <image> marks than its ${this.#images.length} images`);
      }
      return [{ type: 'image', image }, ...said];
    });
  }

  /** @throws RowRefused if images are left */
  checkEnd(): void {
    if (this.#next === this.#images.length) return;
    throw new RowRefused(
      `it has ${this.#images.length} images and ${this.#next} <image> marks for them`,
    );
  }
}
