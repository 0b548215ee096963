/**
 * Boxes and affine maps between frames of images. Coordinates are continuous, in pixels: pixel i
 * covers [i, i + 1), y grows downwards.
 */

import { type AffineMap, applyAffine, composeAffine, invertAffine } from '@saccade/trajectory';

export { applyAffine, composeAffine, invertAffine };

/** [left, top, right, bottom]. */
export type Box = readonly [number, number, number, number];

/** Takes points to another frame, as [a, b, c, d, e, f]; see `AffineMap`. */
export type Affine = AffineMap;

/**
 * The affine map that leaves every point where it is: the `toCanonical` of an image that was not
 * turned.
 */
export const identity: Affine = [1, 0, 0, 0, 1, 0];

/** The upright box around a mapped box. */
export function mapBox(map: Affine, [left, top, right, bottom]: Box): Box {
  const corners = [
    applyAffine(map, left, top),
    applyAffine(map, right, top),
    applyAffine(map, left, bottom),
    applyAffine(map, right, bottom),
  ];
  const xs = corners.map(([x]) => x);
  const ys = corners.map(([, y]) => y);
  return [Math.min(...xs), Math.min(...ys), Math.max(...xs), Math.max(...ys)];
}

export function areaOf([left, top, right, bottom]: Box): number {
  return Math.max(0, right - left) * Math.max(0, bottom - top);
}

export function intersection(a: Box, b: Box): Box {
  return [Math.max(a[0], b[0]), Math.max(a[1], b[1]), Math.min(a[2], b[2]), Math.min(a[3], b[3])];
}

/**
 * Intersection over union of two boxes, from 0 to 1; 0 where either is empty.
 *
 *   IoU(A, B) = |A ∩ B| / |A ∪ B|
 */
export function intersectionOverUnion(a: Box, b: Box): number {
  const common = areaOf(intersection(a, b));
  const union = areaOf(a) + areaOf(b) - common;
  return common > 0 ? Math.min(1, common / union) : 0;
}

/** Whether an unknown, e.g. a task's metadata, is a box. */
export function isBox(value: unknown): value is Box {
  return (
    Array.isArray(value) &&
    value.length === 4 &&
    value.every((side) => typeof side === 'number' && Number.isFinite(side))
  );
}

/*
 * Maps from an output's frame back to its input's, for an input of width × height. A derived
 * image keeps the map into the canonical frame: that of its input after one of these.
 */

export function fromCrop(left: number, top: number): Affine {
  return [1, 0, left, 0, 1, top];
}

export function fromScale(scaleX: number, scaleY: number, left = 0, top = 0): Affine {
  return [scaleX, 0, left, 0, scaleY, top];
}

export function fromHorizontalFlip(width: number): Affine {
  return [-1, 0, width, 0, 1, 0];
}

export function fromVerticalFlip(height: number): Affine {
  return [1, 0, 0, 0, -1, height];
}

/** A quarter turn counter-clockwise took (x, y) to (y, W − x). */
export function fromQuarterTurn(width: number): Affine {
  return [0, -1, width, 1, 0, 0];
}

export function fromHalfTurn(width: number, height: number): Affine {
  return [-1, 0, width, 0, -1, height];
}

/** Three quarters counter-clockwise, one clockwise, took (x, y) to (H − y, x). */
export function fromThreeQuarterTurn(height: number): Affine {
  return [0, 1, 0, -1, 0, height];
}

export const fromTranspose: Affine = [0, 1, 0, 1, 0, 0];

/**
 * Any angle as Pillow turns: counter-clockwise around `center`, pixels centered at halves; with
 * `expand` the output is as large as the turned image needs.
 */
export function fromTurn(
  width: number,
  height: number,
  degrees: number,
  options: { expand: boolean; center?: readonly [number, number] },
): { readonly map: Affine; readonly width: number; readonly height: number } {
  const { expand, center = [width / 2, height / 2] } = options;
  const radians = -(degrees * Math.PI) / 180;
  const [cos, sin] = [Math.cos(radians), Math.sin(radians)];
  const about = (x: number, y: number): Affine => {
    const [shiftX, shiftY] = applyAffine([cos, sin, 0, -sin, cos, 0], -x, -y);
    return [cos, sin, shiftX, -sin, cos, shiftY];
  };
  const turned = about(center[0], center[1]);
  const map: Affine = [cos, sin, turned[2] + center[0], -sin, cos, turned[5] + center[1]];
  if (!expand) return { map, width, height };
  // As Pillow: the size comes from where the forward-looking matrix takes the corners.
  const corners = [
    applyAffine(map, 0, 0),
    applyAffine(map, width, 0),
    applyAffine(map, width, height),
    applyAffine(map, 0, height),
  ];
  const span = (values: readonly number[]): number =>
    Math.ceil(tidy(Math.max(...values))) - Math.floor(tidy(Math.min(...values)));
  const outWidth = span(corners.map(([x]) => x));
  const outHeight = span(corners.map(([, y]) => y));
  const [c, f] = applyAffine(map, -(outWidth - width) / 2, -(outHeight - height) / 2);
  return { map: [cos, sin, c, -sin, cos, f], width: outWidth, height: outHeight };
}

/** Drops what rounding leaves beside a whole number. */
function tidy(value: number): number {
  const whole = Math.round(value);
  return Math.abs(value - whole) < 1e-9 ? whole : value;
}
