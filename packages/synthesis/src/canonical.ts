/** Compares what a step shows with the canonical image: the task's, as it stands upright. */
import { importOptional } from '@saccade/core';
import type { MessagePart, Task } from '@saccade/gym';
import { type AffineMap, applyAffine, composeAffine } from '@saccade/trajectory';

/** Left, top, right, bottom; pixels of the canonical image. */
export type Box = readonly [number, number, number, number];

type ImagePart = Extract<MessagePart, { kind: 'image' }>;

/** RGB pixels, row by row. */
interface Pixels {
  readonly data: Uint8Array;
  readonly width: number;
  readonly height: number;
}

/** What an image of a trajectory is, in the frame of the canonical image. */
export interface Placed {
  /** From its pixels to those of the canonical image; absent where that is not known. */
  readonly map?: AffineMap;
  /** The part of the canonical image that it shows. */
  readonly box?: Box;
  /** Whether it stands as the canonical image does: neither turned nor mirrored. */
  readonly isUpright: boolean;
}

/** The images of one trajectory, placed in the canonical frame. */
export class CanonicalFrame {
  readonly #task: Task;
  readonly #maps = new Map<string, AffineMap>();
  #canonical: Promise<Pixels> | undefined;

  /** @param prompt the images of the prompt, the task's first one first */
  constructor(task: Task, prompt: readonly MessagePart[]) {
    this.#task = task;
    const [first] = prompt.filter((part) => part.kind === 'image');
    if (first !== undefined) this.#maps.set(first.name, this.#toCanonical());
  }

  /** Places an image by where its pixels come from. */
  place(image: ImagePart): Placed {
    const from = image.origin && this.#maps.get(image.origin.image);
    if (image.origin === undefined || from === undefined) return { isUpright: false };
    const map = composeAffine(from, image.origin.map);
    this.#maps.set(image.name, map);
    const [a, b, , d, e] = map;
    const isUpright = a > 0 && e > 0 && Math.abs(b) < 1e-6 && Math.abs(d) < 1e-6;
    const corners = [applyAffine(map, 0, 0), applyAffine(map, image.width, image.height)] as const;
    const xs = corners.map(([x]) => x);
    const ys = corners.map(([, y]) => y);
    const box: Box = [Math.min(...xs), Math.min(...ys), Math.max(...xs), Math.max(...ys)];
    return { map, box, isUpright };
  }

  /**
   * Mean difference of an image from the canonical one, gray levels a channel; Infinity where the sizes
   * differ.
   */
  async difference(image: ImagePart): Promise<number> {
    this.#canonical ??= this.#draw();
    const [own, canonical] = await Promise.all([pixelsOf(image.png), this.#canonical]);
    if (own.width !== canonical.width || own.height !== canonical.height)
      return Number.POSITIVE_INFINITY;
    let sum = 0;
    for (let i = 0; i < own.data.length; i++) {
      sum += Math.abs((own.data[i] as number) - (canonical.data[i] as number));
    }
    return sum / own.data.length;
  }

  #toCanonical(): AffineMap {
    const { toCanonical } = this.#task.metadata;
    return Array.isArray(toCanonical)
      ? (toCanonical as unknown as AffineMap)
      : ([1, 0, 0, 0, 1, 0] as const);
  }

  /** The canonical image, from the task's by its map: a turn or a flip moves whole pixels. */
  async #draw(): Promise<Pixels> {
    const [first] = this.#task.images;
    const given = await pixelsOf(first?.png ?? new Uint8Array());
    const map = this.#toCanonical();
    const isSwapped = Math.abs(map[0]) < 0.5;
    const [width, height] = isSwapped ? [given.height, given.width] : [given.width, given.height];
    const data = new Uint8Array(given.data.length);
    for (let y = 0; y < given.height; y++) {
      for (let x = 0; x < given.width; x++) {
        // Middles of pixels: their corners may lie on the far edge.
        const [toX, toY] = applyAffine(map, x + 0.5, y + 0.5).map(Math.floor) as [number, number];
        const [from, to] = [(y * given.width + x) * 3, (toY * width + toX) * 3];
        for (let c = 0; c < 3; c++) data[to + c] = given.data[from + c] as number;
      }
    }
    return { data, width, height };
  }
}

async function pixelsOf(png: Uint8Array): Promise<Pixels> {
  const { default: sharp } = await importOptional(
    'sharp@0.35',
    'Comparing images',
    () => import('sharp'),
  );
  const { data, info } = await sharp(png)
    .flatten({ background: '#ffffff' })
    .toColourspace('srgb')
    .removeAlpha()
    .raw()
    .toBuffer({ resolveWithObject: true });
  return { data: new Uint8Array(data), width: info.width, height: info.height };
}

/** Share of a box that another box covers. */
export function coverage(box: Box, by: Box): number {
  const width = Math.min(box[2], by[2]) - Math.max(box[0], by[0]);
  const height = Math.min(box[3], by[3]) - Math.max(box[1], by[1]);
  return width <= 0 || height <= 0 ? 0 : (width * height) / area(box);
}

/** Area of a box, square pixels. */
export function area([left, top, right, bottom]: Box): number {
  return Math.max(0, right - left) * Math.max(0, bottom - top);
}
