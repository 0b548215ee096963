/** Arguments that several tools have. */
import { z } from 'zod';

export const imageIndex: z.ZodOptional<z.ZodInt> = z
  .int()
  .min(0)
  .max(9999)
  .optional()
  .describe('Which picture to work on, counted from 0; the first by default.');

const coordinate = z.number();

export type PointSchema = z.ZodTuple<[z.ZodNumber, z.ZodNumber], null>;
export type BoxSchema = z.ZodTuple<[z.ZodNumber, z.ZodNumber, z.ZodNumber, z.ZodNumber], null>;

/** [x, y] in pixels of the image at its original size. */
export const point: PointSchema = z
  .tuple([coordinate, coordinate])
  .describe('[x, y] in pixels of the picture at its original size.');

/** [left, top, right, bottom] in pixels of the image at its original size. */
export const box: BoxSchema = z
  .tuple([coordinate, coordinate, coordinate, coordinate])
  .describe('[left, top, right, bottom] in pixels of the picture at its original size.');

const colors = ['red', 'green', 'blue', 'yellow', 'black', 'white'] as const;

export const color: z.ZodOptional<z.ZodEnum<{ [Name in (typeof colors)[number]]: Name }>> = z
  .enum(colors)
  .optional()
  .describe('Red by default.');

export const strokeWidth: z.ZodOptional<z.ZodInt> = z
  .int()
  .min(1)
  .max(64)
  .optional()
  .describe('Pixels; by default about a hundredth of the picture.');
