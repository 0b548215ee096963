/** The eight ways that an image can lie: sources, quarter turns, flips, and flips about a diagonal. */
import type { Box, TaskImage, TurnTool } from '@saccade/gym';
import type { Sharp } from 'sharp';

/**
 * What was done to an upright image. Turns count counter-clockwise, as Pillow's do; `transpose` and
 * `transverse` are Pillow's names for a flip about a diagonal, which is a turn and a flip together.
 */
export const poses = [
  'source',
  'rotate_90',
  'rotate_180',
  'rotate_270',
  'flip_horizontal',
  'flip_vertical',
  'transpose',
  'transverse',
] as const;

/** One of the eight. */
export type Pose = (typeof poses)[number];

/** The upright image and the five transformations of CodeVision, arXiv:2512.03746, §4.2. */
export const sixPoses = poses.slice(0, 6) as readonly Pose[];
/** The five transformations alone. */
export const fiveTurns = poses.slice(1, 6) as readonly TurnTool[];

/** x' = a·x + b·y + c, y' = d·x + e·y + f, as [a, b, c, d, e, f]; pixels, y downwards. */
export type PoseMap = readonly [number, number, number, number, number, number];

/** [a, b, d, e] of each pose. */
const linear: Readonly<Record<Pose, readonly [number, number, number, number]>> = {
  source: [1, 0, 0, 1],
  rotate_90: [0, 1, -1, 0],
  rotate_180: [-1, 0, 0, -1],
  rotate_270: [0, -1, 1, 0],
  flip_horizontal: [-1, 0, 0, 1],
  flip_vertical: [1, 0, 0, -1],
  transpose: [0, 1, 1, 0],
  transverse: [0, -1, -1, 0],
};

/** The tools that make an image of a pose stand upright again, in order. */
export const undoOf: Readonly<Record<Pose, readonly TurnTool[]>> = {
  source: [],
  rotate_90: ['rotate_270'],
  rotate_180: ['rotate_180'],
  rotate_270: ['rotate_90'],
  flip_horizontal: ['flip_horizontal'],
  flip_vertical: ['flip_vertical'],
  transpose: ['rotate_90', 'flip_vertical'],
  transverse: ['rotate_90', 'flip_horizontal'],
};

/** The pose that undoes a pose. */
export function inverseOf(pose: Pose): Pose {
  if (pose === 'rotate_90') return 'rotate_270';
  return pose === 'rotate_270' ? 'rotate_90' : pose;
}

/** Whether width and height change places. */
export const isSideways = (pose: Pose): boolean => linear[pose][0] === 0;

/** From the upright image of a width and height to the same in a pose. */
export function poseMap(pose: Pose, width: number, height: number): PoseMap {
  return withinImage(linear[pose], width, height);
}

/** From an image in a pose to the upright one; width and height are those of the upright image. */
export function toCanonicalOf(pose: Pose, width: number, height: number): PoseMap {
  const [a, b, d, e] = linear[pose];
  // The inverse of a turn or a flip is its transpose.
  const [wide, tall] = isSideways(pose) ? [height, width] : [width, height];
  return withinImage([a, d, b, e], wide, tall);
}

/** Adds the offset that puts the top left of the mapped image at 0. */
function withinImage(
  [a, b, d, e]: readonly [number, number, number, number],
  width: number,
  height: number,
): PoseMap {
  const offset = (x: number, y: number) => (x < 0 ? width : 0) + (y < 0 ? height : 0);
  return [a, b, offset(a, b), d, e, offset(d, e)];
}

/** Where a box of the upright image lies in a pose. */
export function posedBox(pose: Pose, width: number, height: number, box: Box): Box {
  const [a, b, c, d, e, f] = poseMap(pose, width, height);
  const [left, top, right, bottom] = box;
  const xs = [a * left + b * top + c, a * right + b * bottom + c];
  const ys = [d * left + e * top + f, d * right + e * bottom + f];
  return [Math.min(...xs), Math.min(...ys), Math.max(...xs), Math.max(...ys)];
}

/** Steps of sharp, which turns clockwise; `flop` is left to right, `flip` upside down. */
const steps: Readonly<Record<TurnTool, (image: Sharp) => Sharp>> = {
  rotate_90: (image) => image.rotate(270),
  rotate_180: (image) => image.rotate(180),
  rotate_270: (image) => image.rotate(90),
  flip_horizontal: (image) => image.flop(),
  flip_vertical: (image) => image.flip(),
};
/** Pixels of an image, row by row. */
export interface RawPixels {
  readonly data: Uint8Array;
  readonly width: number;
  readonly height: number;
  readonly channels: 1 | 2 | 3 | 4;
}

/** An image in a pose. Every pose is packed alike, so that the size of a file does not tell it. */
export async function posedImage(pose: Pose, image: TaskImage): Promise<TaskImage> {
  const { default: sharp } = await import('sharp');
  const { data, info } = await sharp(image.png).raw().toBuffer({ resolveWithObject: true });
  return await posedPng(pose, image.name, { data, ...info });
}

/** Pixels in a pose, as a PNG file with a name of a task's image. */
export async function posedPng(pose: Pose, name: string, pixels: RawPixels): Promise<TaskImage> {
  const { default: sharp } = await import('sharp');
  let { data, width, height, channels } = pixels;
  for (const step of undoOf[inverseOf(pose)]) {
    // One at a time: within a pipeline sharp orders turns and flips in its own way.
    const turned = await steps[step](sharp(data, { raw: { width, height, channels } }))
      .raw()
      .toBuffer({ resolveWithObject: true });
    data = turned.data;
    ({ width, height, channels } = turned.info);
  }
  const png = await sharp(data, { raw: { width, height, channels } })
    .png({ compressionLevel: 2 })
    .toBuffer();
  return { name, png, width, height };
}
