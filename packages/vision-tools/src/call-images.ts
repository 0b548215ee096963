/** The images of a call, looked at before anything decodes them. */
import type { Outcome } from '@saccade/sandbox';
import { refused, type ToolContext, type ToolImage } from '@saccade/tools';
import { z } from 'zod';
import { declined } from './outcomes.ts';
import { type PngSize, pngSize } from './png.ts';
import { DeclinedError } from './workers/vision-engine.ts';

/** Larger images are declined: 8K with some room; 100 MP of RGB is 300 MB before any work. */
export const maxPixels = 40_000_000;

/** The argument by which a call names one of its images. */
export const imageIndex: z.ZodOptional<z.ZodInt> = z
  .int()
  .min(0)
  .max(9999)
  .optional()
  .describe('Counted from 0; 0 by default.');

/**
 * The image of a call by its index, with the size that its bytes state, or the outcome that says why
 * there is none: no such index, no PNG, too large.
 */
export function imageAt(context: ToolContext, index: number): ToolImage | Outcome {
  const image = context.images[index];
  if (image === undefined) {
    const last = context.images.length - 1;
    const remedy = last < 0 ? 'Give an image.' : `Write 0 to ${last}.`;
    return refused('BadArgument', `There is no image ${index}. ${remedy}`);
  }
  const size = checkedSize(image.png);
  return size instanceof DeclinedError ? declined(size.type, size.message) : { ...image, ...size };
}

/** Whether `imageAt` gave an outcome. */
export function isOutcome(given: ToolImage | Outcome): given is Outcome {
  return 'kind' in given;
}

/** The size of an image as its header states it, or why it is not handed on. */
export function checkedSize(png: Uint8Array): PngSize | DeclinedError {
  const size = pngSize(png);
  if (size === undefined) {
    return new DeclinedError('UnreadableImage', 'The image is no PNG. Give another one.');
  }
  const { width, height } = size;
  if (width * height <= maxPixels) return size;
  return new DeclinedError(
    'ImageTooLarge',
    `The image has ${width} x ${height} pixels, more than ${maxPixels / 1e6} million. Crop it first.`,
  );
}
