/** Images of the report: as data in the page, and boxes from one image drawn on another. */
import { mapBox } from '@saccade/code-effects';
import { importOptional } from '@saccade/core';
import type { AffineMap, TrajectoryImage } from '@saccade/trajectory';

/** Left, top, right, bottom; pixels of the original. */
export type ImageBox = readonly [number, number, number, number];

/** A PNG up to this size goes into the page as it is. */
const LARGEST_PNG_BYTES = 150_000;
/** Others are made to fit into a square of this side, pixels. */
const REDUCED_SIDE = 1000;

/** The image as a data URI; undefined if it could not be loaded. */
export async function dataUri(png: Uint8Array): Promise<string | undefined> {
  if (png.length === 0) return undefined;
  if (png.length <= LARGEST_PNG_BYTES) return uriOf('image/png', png);
  const { default: sharp } = await importOptional(
    'sharp@0.35',
    'Reducing a large image',
    () => import('sharp'),
  );
  const reduced = await sharp(png)
    .resize(REDUCED_SIDE, REDUCED_SIDE, { fit: 'inside', withoutEnlargement: true })
    .webp({ quality: 85 })
    .toBuffer();
  return uriOf('image/webp', reduced);
}

function uriOf(type: string, bytes: Uint8Array): string {
  return `data:${type};base64,${Buffer.from(bytes).toString('base64')}`;
}

/** The upright box around the part of the original that an image shows, turned or not. */
export function originBox({ width, height }: TrajectoryImage, map: AffineMap): ImageBox {
  return mapBox(map, [0, 0, width, height]);
}

/** A box from a tag, which is one scalar: four numbers as `288,64,344,120`, in brackets or not. */
export function parseBox(tag: string | number | boolean | undefined): ImageBox | undefined {
  if (typeof tag !== 'string') return undefined;
  const numbers = tag.match(/-?\d+(?:\.\d+)?/g)?.map(Number) ?? [];
  const [left, top, right, bottom] = numbers;
  if (left === undefined || top === undefined || right === undefined || bottom === undefined) {
    return undefined;
  }
  return [left, top, right, bottom];
}
