/** Images of verl-tool's requests: data URLs, base64, or paths inside one folder of a shared disk. */
import { constants } from 'node:fs';
import { open, realpath } from 'node:fs/promises';
import { resolve, sep } from 'node:path';
import { DataError, messageOf } from '@saccade/core';
import type { ToolImage } from '@saccade/tools';
import { asPng, bytesOf } from './images.ts';

export interface VerlImagesOptions {
  /** The folder whose files may be named; without it no path is opened. */
  readonly folder?: string | undefined;
  readonly maxPixels: number;
  /** Limit per file. */
  readonly maxBytes: number;
}

const MOST_IMAGES = 256;
const dataUrl = /^data:image\/[\w.+-]{1,40};base64,/;
/** Base64 has no dot: whatever ends so is a file. */
const fileEnding = /\.[A-Za-z]{3,4}$/;

/**
 * The images that the fields of a trajectory name: `images`, `image` or `image_path`.
 *
 * @returns undefined where they name none
 * @throws DataError for what is no image, or is not allowed
 */
export async function imagesIn(
  fields: Readonly<Record<string, unknown>>,
  options: VerlImagesOptions,
): Promise<readonly ToolImage[] | undefined> {
  const given = fields.images ?? fields.image ?? fields.image_path;
  if (given === undefined || given === null) return undefined;
  const list: readonly unknown[] = [given].flat();
  if (list.length > MOST_IMAGES) {
    throw new DataError(`A trajectory names ${list.length} images. Name ${MOST_IMAGES} at most.`);
  }
  const images: ToolImage[] = [];
  for (const [index, one] of list.entries()) {
    const name = `image_${index}`;
    const encoded = await encodedBytes(textOf(one), name, options);
    images.push({ name, ...(await asPng(encoded, name, options.maxPixels)) });
  }
  return images;
}

/** The text of an image: itself, or a field of an object as data sets have them. */
function textOf(image: unknown): string {
  if (typeof image === 'string') return image;
  const { path, image: inner, bytes } = (image ?? {}) as Readonly<Record<string, unknown>>;
  const text = bytes ?? path ?? inner;
  if (typeof text === 'string') return text;
  throw new DataError('An image is neither a path, a data URL nor base64. Send one of these.');
}

async function encodedBytes(
  text: string,
  what: string,
  options: VerlImagesOptions,
): Promise<Uint8Array> {
  if (text.startsWith('data:')) {
    const [start] = dataUrl.exec(text.slice(0, 100)) ?? [];
    if (start === undefined) throw new DataError(`${what} is a data URL of no image.`);
    return bytesOf(text.slice(start.length));
  }
  if (text.length < 4096 && fileEnding.test(text.slice(-6))) return await readInside(text, options);
  return bytesOf(text);
}

/** A file's bytes. @throws DataError unless it lies in the folder, links resolved */
async function readInside(path: string, options: VerlImagesOptions): Promise<Uint8Array> {
  const { folder, maxBytes } = options;
  const shown = JSON.stringify(path.slice(0, 200));
  if (folder === undefined) {
    throw new DataError(
      `The path ${shown} is not opened: no folder is allowed. Start the service with one, or send ` +
        'images as data URLs.',
    );
  }
  const allowed = await realpath(folder);
  const local = path.startsWith('file://') ? path.slice('file://'.length) : path;
  const refused = new DataError(
    `The path ${shown} is no file in the allowed folder. Name one inside it.`,
  );
  const real = await realpath(resolve(allowed, local)).catch(() => {
    throw refused;
  });
  if (!real.startsWith(allowed + sep)) throw refused;
  // Without waiting: a named pipe would keep the thread until somebody writes.
  const file = await open(real, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const { size, isFile } = await file.stat().then((stat) => {
      return { size: stat.size, isFile: stat.isFile() };
    });
    if (!isFile) throw refused;
    if (size > maxBytes) throw new DataError(`${shown} has ${size} bytes, more than ${maxBytes}.`);
    return new Uint8Array(await file.readFile());
  } catch (error) {
    if (error instanceof DataError) throw error;
    throw new DataError(`${shown} cannot be read: ${messageOf(error)}`, { cause: error });
  } finally {
    await file.close();
  }
}
