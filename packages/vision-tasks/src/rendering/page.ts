/** A page of text and rules in one ink, for images with thousands of small letters. */
import type { Box, TaskImage } from '@saccade/gym';
import type { Glyphs } from './glyphs.ts';

/** A color: red, green and blue from 0 to 255. */
export type Color = readonly [red: number, green: number, blue: number];

/** Pages are for looking at, not for keeping: level 2 packs 3 times faster than the default. */
const COMPRESSION = 2;

/** Collects what is on a page. Coordinates are pixels from the top left. */
export class Page {
  readonly width: number;
  readonly height: number;
  /** [height, width] ink from 0 to 255. */
  readonly #ink: Uint8Array;

  constructor(width: number, height: number) {
    this.width = width;
    this.height = height;
    this.#ink = new Uint8Array(width * height);
  }

  /** Sets text with its baseline at y, and returns the box that it takes up. */
  text(text: string, x: number, y: number, glyphs: Glyphs): Box {
    let left = x;
    for (const letter of text) {
      if (letter !== ' ') this.#stamp(letter, left, Math.round(y), glyphs);
      left += glyphs.advance(letter);
    }
    return [x, y - glyphs.size * 0.78, left, y + glyphs.size * 0.22];
  }

  /** Fills a box with a share of the ink, from 0 to 1. */
  fill([left, top, right, bottom]: Box, share: number): void {
    const inside = (value: number, most: number) => Math.min(most, Math.max(0, Math.round(value)));
    const [start, end] = [inside(left, this.width), inside(right, this.width)];
    for (let row = inside(top, this.height); row < inside(bottom, this.height); row++) {
      this.#ink.fill(Math.round(share * 255), row * this.width + start, row * this.width + end);
    }
  }

  /** Draws the edge of a box, one pixel wide. */
  frame([left, top, right, bottom]: Box, share: number): void {
    this.fill([left, top, right, top + 1], share);
    this.fill([left, bottom - 1, right, bottom], share);
    this.fill([left, top, left + 1, bottom], share);
    this.fill([right - 1, top, right, bottom], share);
  }

  /** The page as a PNG file with a name of a task's image. */
  async toImage(name: string, paper: Color, ink: Color): Promise<TaskImage> {
    const { default: sharp } = await import('sharp');
    const shades = Array.from({ length: 256 }, (_, share) => {
      return paper.map((from, channel) => {
        return Math.round(from + ((ink[channel] ?? 0) - from) * (share / 255));
      });
    });
    const [reds, greens, blues] = [0, 1, 2].map((channel) =>
      Uint8Array.from(shades, (shade) => shade[channel] ?? 0),
    ) as [Uint8Array, Uint8Array, Uint8Array];
    const pixels = new Uint8Array(this.#ink.length * 3);
    this.#ink.forEach((share, index) => {
      pixels[3 * index] = reds[share] ?? 0;
      pixels[3 * index + 1] = greens[share] ?? 0;
      pixels[3 * index + 2] = blues[share] ?? 0;
    });
    const { width, height } = this;
    const png = await sharp(pixels, { raw: { width, height, channels: 3 } })
      .png({ compressionLevel: COMPRESSION })
      .toBuffer();
    return { name, png, width, height };
  }

  #stamp(letter: string, x: number, baseline: number, glyphs: Glyphs): void {
    const [width, height] = glyphs.cell;
    const whole = Math.floor(x);
    const bitmap = glyphs.bitmap(letter, x - whole);
    const [left, top] = [whole - glyphs.lead, baseline - glyphs.ascent];
    for (let row = 0; row < height; row++) {
      const y = top + row;
      if (y < 0 || y >= this.height) continue;
      for (let column = 0; column < width; column++) {
        const share = bitmap[row * width + column] ?? 0;
        const at = left + column;
        if (share === 0 || at < 0 || at >= this.width) continue;
        const index = y * this.width + at;
        if (share > (this.#ink[index] ?? 0)) this.#ink[index] = share;
      }
    }
  }
}
