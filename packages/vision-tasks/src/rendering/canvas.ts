/**
 * A large image in colors that is drawn part by part: no call touches more pixels than it changes, so an
 * image of 33 megapixels costs what lies on it.
 */
import type { Box, TaskImage } from '@saccade/gym';
import type { Glyphs } from './glyphs.ts';
import type { Color } from './page.ts';

/** A small image that is put onto a canvas. */
export interface Bitmap {
  readonly width: number;
  readonly height: number;
  /** [height, width, 3] red, green and blue. */
  readonly pixels: Uint8Array;
  /** [height, width] coverage from 0 to 255; without it, the bitmap covers all. */
  readonly cover?: Uint8Array;
}

/** Images are for looking at, not for keeping: level 2 packs 3 times faster than the default. */
const COMPRESSION = 2;

const mixed = (below: number, above: number, share: number): number =>
  Math.round(below + (above - below) * share);

/** Collects the pixels of one image. Coordinates are pixels from the top left. */
export class Canvas {
  readonly width: number;
  readonly height: number;
  /** [height, width, 3] red, green and blue. */
  readonly pixels: Uint8Array;

  constructor(width: number, height: number, background: Color) {
    this.width = width;
    this.height = height;
    this.pixels = new Uint8Array(width * height * 3);
    this.fill([0, 0, width, height], background);
  }

  /** Fills a box, as far as it lies inside, with whole pixels. */
  fill([left, top, right, bottom]: Box, [red, green, blue]: Color): void {
    const inside = (value: number, most: number) => Math.min(most, Math.max(0, Math.round(value)));
    const [start, end] = [inside(left, this.width), inside(right, this.width)];
    const [first, last] = [inside(top, this.height), inside(bottom, this.height)];
    if (end <= start || last <= first) return;
    const from = (first * this.width + start) * 3;
    const length = (end - start) * 3;
    for (let at = from; at < from + length; at += 3) {
      this.pixels[at] = red;
      this.pixels[at + 1] = green;
      this.pixels[at + 2] = blue;
    }
    for (let row = first + 1; row < last; row++) {
      this.pixels.copyWithin((row * this.width + start) * 3, from, from + length);
    }
  }

  /** Draws the edge of a box inside it, some pixels wide. */
  frame([left, top, right, bottom]: Box, color: Color, wide = 1): void {
    this.fill([left, top, right, top + wide], color);
    this.fill([left, bottom - wide, right, bottom], color);
    this.fill([left, top, left + wide, bottom], color);
    this.fill([right - wide, top, right, bottom], color);
  }

  /** Puts a bitmap with its top left at a whole pixel; what lies outside is left out. */
  paste({ width, height, pixels, cover }: Bitmap, left: number, top: number): void {
    const [first, last] = [Math.max(0, -left), Math.min(width, this.width - left)];
    if (last <= first) return;
    for (let row = Math.max(0, -top); row < Math.min(height, this.height - top); row++) {
      const to = ((top + row) * this.width + left) * 3;
      const from = row * width;
      if (cover === undefined) {
        this.pixels.set(pixels.subarray((from + first) * 3, (from + last) * 3), to + first * 3);
        continue;
      }
      for (let column = first; column < last; column++) {
        const share = cover[from + column] ?? 0;
        if (share === 0) continue;
        for (let channel = 0; channel < 3; channel++) {
          const at = to + column * 3 + channel;
          const above = pixels[(from + column) * 3 + channel] ?? 0;
          this.pixels[at] = mixed(this.pixels[at] ?? 0, above, share / 255);
        }
      }
    }
  }

  /** Sets text with its baseline at y, and returns the box that it takes up. */
  text(text: string, x: number, y: number, glyphs: Glyphs, color: Color): Box {
    let left = x;
    for (const letter of text) {
      if (letter !== ' ') this.#stamp(letter, left, Math.round(y), glyphs, color);
      left += glyphs.advance(letter);
    }
    return [x, y - glyphs.size * 0.78, left, y + glyphs.size * 0.22];
  }

  /** The whole image as a PNG file with a name of a task's image. */
  async toImage(name: string): Promise<TaskImage> {
    const { default: sharp } = await import('sharp');
    const { width, height, pixels } = this;
    const png = await sharp(pixels, { raw: { width, height, channels: 3 } })
      .png({ compressionLevel: COMPRESSION })
      .toBuffer();
    return { name, png, width, height };
  }

  #stamp(letter: string, x: number, baseline: number, glyphs: Glyphs, color: Color): void {
    const [width, height] = glyphs.cell;
    const whole = Math.floor(x);
    const bitmap = glyphs.bitmap(letter, x - whole);
    const [left, top] = [whole - glyphs.lead, baseline - glyphs.ascent];
    const [red, green, blue] = color;
    for (let row = Math.max(0, -top); row < Math.min(height, this.height - top); row++) {
      for (let column = 0; column < width; column++) {
        const share = (bitmap[row * width + column] ?? 0) / 255;
        const across = left + column;
        if (share === 0 || across < 0 || across >= this.width) continue;
        const at = ((top + row) * this.width + across) * 3;
        this.pixels[at] = mixed(this.pixels[at] ?? 0, red, share);
        this.pixels[at + 1] = mixed(this.pixels[at + 1] ?? 0, green, share);
        this.pixels[at + 2] = mixed(this.pixels[at + 2] ?? 0, blue, share);
      }
    }
  }
}
