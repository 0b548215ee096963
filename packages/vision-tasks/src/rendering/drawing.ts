/** A drawing: shapes and text on a page, as SVG, then as a PNG file. */
import type { Box, TaskImage } from '@saccade/gym';
import type { Typeface } from './typefaces.ts';

/** How a line of text is set. */
export interface TextStyle {
  readonly typeface: Typeface;
  /** Font size in pixels. */
  readonly size: number;
  readonly color: string;
  /** Where x lies in the line. Default: `start`. */
  readonly anchor?: 'start' | 'middle' | 'end';
  /** Degrees clockwise around (x, y); 0 or −90. Default: 0. */
  readonly turn?: 0 | -90;
  /** Color of an outline behind the letters that sets them off from lines. Default: none. */
  readonly halo?: string;
}

/** Attributes of an SVG element. */
export type Paint = Readonly<Record<string, string | number>>;

/** Share of the font size above the baseline, and below it, that a line of text takes up. */
const ASCENT = 0.78;
const DESCENT = 0.22;

/** Collects the elements of one image. Coordinates are pixels from the top left. */
export class Drawing {
  readonly width: number;
  readonly height: number;
  readonly #parts: string[] = [];

  constructor(width: number, height: number, background: string) {
    this.width = width;
    this.height = height;
    this.rectangle([0, 0, width, height], { fill: background });
  }

  /** Fills or strokes a box. */
  rectangle([left, top, right, bottom]: Box, paint: Paint): void {
    this.#add('rect', { x: left, y: top, width: right - left, height: bottom - top, ...paint });
  }

  /** Draws a straight line. */
  line(from: readonly [number, number], to: readonly [number, number], paint: Paint): void {
    this.#add('line', { x1: from[0], y1: from[1], x2: to[0], y2: to[1], ...paint });
  }

  /** Draws SVG path data, moved by (x, y). */
  path(data: string, paint: Paint, x = 0, y = 0): void {
    this.#add('path', { d: data, transform: `translate(${x} ${y})`, ...paint });
  }

  /** Draws a disk. */
  disk(x: number, y: number, radius: number, paint: Paint): void {
    this.#add('circle', { cx: x, cy: y, r: radius, ...paint });
  }

  /** Sets a line of text with its baseline at y, and returns the box that it takes up. */
  text(text: string, x: number, y: number, style: TextStyle): Box {
    const { typeface, size, color, anchor = 'start', turn = 0, halo } = style;
    const width = typeface.widthOf(text, size);
    const before = anchor === 'start' ? 0 : anchor === 'middle' ? width / 2 : width;
    const data = typeface.outline(text, -before, 0, size);
    const transform = `translate(${x} ${y}) rotate(${turn})`;
    if (halo !== undefined) {
      const outline = { stroke: halo, 'stroke-width': size * 0.2, 'stroke-linejoin': 'round' };
      this.#add('path', { d: data, fill: halo, transform, ...outline });
    }
    this.#add('path', { d: data, fill: color, transform });
    const up = size * ASCENT;
    const down = size * DESCENT;
    if (turn === 0) return [x - before, y - up, x - before + width, y + down];
    return [x - up, y - width + before, x + down, y + before];
  }

  /** The whole image as SVG. */
  toSvg(): string {
    const { width, height } = this;
    const size = `width="${width}" height="${height}" viewBox="0 0 ${width} ${height}"`;
    return `<svg xmlns="http://www.w3.org/2000/svg" ${size}>${this.#parts.join('')}</svg>`;
  }

  /** The whole image as a PNG file with a name of a task's image. */
  async toImage(name: string): Promise<TaskImage> {
    const { default: sharp } = await import('sharp');
    const png = await sharp(Buffer.from(this.toSvg())).removeAlpha().png().toBuffer();
    return { name, png, width: this.width, height: this.height };
  }

  #add(element: string, attributes: Paint): void {
    const written = Object.entries(attributes).map(([key, value]) => {
      return `${key}="${typeof value === 'number' ? Number(value.toFixed(2)) : value}"`;
    });
    this.#parts.push(`<${element} ${written.join(' ')}/>`);
  }
}

/** The smallest box around some boxes, in whole pixels inside the image. */
export function boxAround(boxes: readonly Box[], width: number, height: number): Box {
  const edge = (index: 0 | 1 | 2 | 3) => boxes.map((box) => box[index]);
  return [
    Math.max(0, Math.floor(Math.min(...edge(0)))),
    Math.max(0, Math.floor(Math.min(...edge(1)))),
    Math.min(width, Math.ceil(Math.max(...edge(2)))),
    Math.min(height, Math.ceil(Math.max(...edge(3)))),
  ];
}
