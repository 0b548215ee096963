/** Tells how an image was turned or mirrored. */
import type { AffineMap } from '@saccade/trajectory';
import { z } from 'zod';
import { defineVisionTool, imageAt, imageIndex, isOutcome } from '../define-vision-tool.ts';
import { answered, madeOf } from '../outcomes.ts';

const poses = [
  'upright',
  'rotate90',
  'rotate180',
  'rotate270',
  'flip-horizontal',
  'flip-vertical',
] as const;
type Pose = (typeof poses)[number];

const answer = z.object({
  pose: z.enum(poses),
  scores: z.record(z.string(), z.number()),
  lines: z.int(),
});

/** The advice to the reader of the answer. */
const remedies: Readonly<Record<Pose, string>> = {
  upright: 'Nothing is to be undone.',
  rotate90: 'Rotate it by 90 degrees clockwise to undo that.',
  rotate180: 'Rotate it by 180 degrees to undo that.',
  rotate270: 'Rotate it by 90 degrees counterclockwise to undo that.',
  'flip-horizontal': 'Mirror it left to right to undo that.',
  'flip-vertical': 'Mirror it top to bottom to undo that.',
};

export const detectOrientation = defineVisionTool({
  name: 'detect_orientation',
  description:
    'Tells whether an image with text was rotated by 90, 180 or 270 degrees counterclockwise, or ' +
    'mirrored, and gives it upright.',
  says: 'PP-OCRv4, which reads lines in each pose.',
  parameters: { image_index: imageIndex },
  example: {},
  operations: ['orientation', 'ocr'],
  async embedded({ image_index = 0 }, context, engine) {
    const image = imageAt(context, image_index);
    if (isOutcome(image)) return image;
    const { result, images } = await engine.run('orientation', {}, [image]);
    const { pose, scores, lines } = answer.parse(result);
    const all = Object.entries(scores).map(([name, score]) => `${name} ${score}`);
    const text = `${pose}. ${remedies[pose]} (${lines} lines read; scores: ${all.join(', ')})`;
    const map = uprightMap(pose, image);
    return answered(`Orientation Detection Result:\n${text}`, {
      images: images.map((made) => madeOf(image, made, map)),
    });
  },
});

/** Takes pixels of the upright image to those of the image that was given, W × H. */
function uprightMap(
  pose: Pose,
  { width, height }: { readonly width: number; readonly height: number },
): AffineMap {
  switch (pose) {
    case 'rotate90':
      return [0, 1, 0, -1, 0, height];
    case 'rotate180':
      return [-1, 0, width, 0, -1, height];
    case 'rotate270':
      return [0, -1, width, 1, 0, 0];
    case 'flip-horizontal':
      return [-1, 0, width, 0, 1, 0];
    case 'flip-vertical':
      return [1, 0, 0, 0, -1, height];
    default:
      return [1, 0, 0, 0, 1, 0];
  }
}
