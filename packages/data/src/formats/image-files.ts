/** Images of rows: data URLs, files beside the row's file, bytes; always PNG once they are read. */
import { createHash } from 'node:crypto';
import { mkdir, readFile, rename, stat, writeFile } from 'node:fs/promises';
import { dirname, isAbsolute, join, relative, resolve } from 'node:path';
import { importOptional } from '@saccade/core';
import { RowRefused } from './format.ts';

const PNG = [0x89, 0x50, 0x4e, 0x47];

/**
 * An image as PNG bytes; other encodings are decoded and turned upright by what their EXIF data say.
 *
 * @throws RowRefused if it cannot be decoded
 */
export async function asPng(bytes: Uint8Array): Promise<Uint8Array> {
  if (PNG.every((byte, at) => bytes[at] === byte)) return bytes;
  const { default: sharp } = await importOptional(
    'sharp@0.35',
    'Reading JPEG images',
    () => import('sharp'),
  );
  try {
    return new Uint8Array(await sharp(bytes).rotate().png().toBuffer());
  } catch (error) {
    throw new RowRefused(`an image cannot be decoded: ${(error as Error).message}`);
  }
}

/**
 * The image at a data URL, or at a path relative to a file. A path must stay beside the file, as files
 * from elsewhere are not to be trusted.
 *
 * @throws RowRefused if there is none
 */
export async function loadImage(url: string, file: string): Promise<Uint8Array> {
  const inline = /^data:image\/[\w.+-]+;base64,/.exec(url);
  if (inline) return asPng(new Uint8Array(Buffer.from(url.slice(inline[0].length), 'base64')));
  if (/^https?:/.test(url)) {
    throw new RowRefused(`an image is at ${url.slice(0, 80)}: download it and name the file`);
  }
  const folder = resolve(dirname(file));
  const path = resolve(folder, url.replace(/^file:\/\//, ''));
  const inside = relative(folder, path);
  if (inside.startsWith('..') || isAbsolute(inside)) {
    throw new RowRefused(`image ${url.slice(0, 80)} lies outside of ${folder}`);
  }
  const bytes = await readFile(path).catch(() => undefined);
  if (bytes === undefined) throw new RowRefused(`image ${url.slice(0, 80)} cannot be read`);
  return asPng(new Uint8Array(bytes));
}

/** Keeps images in `images/` beside a file, each once, named by content. */
export class ImageFolder {
  readonly #folder: string;
  readonly #kept = new Map<string, Promise<void>>();

  /** @param file the file beside which they are kept */
  constructor(file: string) {
    this.#folder = join(dirname(file), 'images');
  }

  /** Its path relative to the file. */
  async keep(png: Uint8Array): Promise<string> {
    const name = `${createHash('sha256').update(png).digest('hex').slice(0, 24)}.png`;
    let kept = this.#kept.get(name);
    if (kept === undefined) {
      kept = this.#write(join(this.#folder, name), png);
      this.#kept.set(name, kept);
    }
    await kept;
    return `images/${name}`;
  }

  async #write(target: string, png: Uint8Array): Promise<void> {
    await mkdir(this.#folder, { recursive: true });
    const found = await stat(target).catch(() => undefined);
    if (found?.size === png.length) return;
    await writeFile(`${target}.part`, png);
    await rename(`${target}.part`, target);
  }
}

/** A data URL of a PNG. */
export function pngUrl(png: Uint8Array): string {
  return `data:image/png;base64,${Buffer.from(png).toString('base64')}`;
}
