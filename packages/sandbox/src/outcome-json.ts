/** Outcomes as JSON, for those who are not in this process: images are base64. */
import { DataError } from '@saccade/core';
import { z } from 'zod';
import type { Outcome } from './outcome.ts';

const size = z.number().int().positive();
const measured = z.number().nonnegative();

/** The schema of what `outcomeToJson` writes. */
export const outcomeSchema = z.object({
  kind: z.enum(['ok', 'exception', 'timeout', 'memory', 'forbidden', 'crashed', 'infraError']),
  stdout: z.string(),
  stderr: z.string(),
  images: z.array(
    z.object({
      png: z.string(),
      width: size,
      height: size,
      source: z.enum(['figure', 'image', 'value', 'file']),
      file: z.string().optional(),
      origin: z
        .object({
          image: z.string(),
          map: z.tuple([z.number(), z.number(), z.number(), z.number(), z.number(), z.number()]),
        })
        .optional(),
    }),
  ),
  error: z
    .object({
      type: z.string(),
      message: z.string(),
      line: z.number().int().optional(),
      traceback: z.string(),
    })
    .optional(),
  truncated: z.array(z.enum(['stdout', 'stderr', 'images'])),
  repairs: z
    .array(
      z.object({
        kind: z.enum(['indentation', 'imagePath', 'cropBox']),
        before: z.string(),
        after: z.string(),
        line: z.number().int().exactOptional(),
      }),
    )
    .optional(),
  rolledBack: z.literal(true).optional(),
  wallMs: measured,
  cpuMs: measured,
  maxRssKb: measured,
  tier: z.string(),
});

/** The outcome with its images in base64. */
export function outcomeToJson(outcome: Outcome): Record<string, unknown> {
  const images = outcome.images.map((image) => ({ ...image, png: toBase64(image.png) }));
  return { ...outcome, images };
}

/** Reads what `outcomeToJson` wrote. @throws DataError if it is no outcome */
export function outcomeFromJson(value: unknown): Outcome {
  const parsed = outcomeSchema.safeParse(value);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    throw new DataError(
      `The server's outcome does not fit at "${issue?.path.join('.')}": ${issue?.message}. ` +
        'Check that both sides have the same version.',
    );
  }
  const { images, error, repairs, rolledBack, ...rest } = parsed.data;
  return {
    ...rest,
    ...(repairs && { repairs }),
    ...(rolledBack && { rolledBack }),
    images: images.map(({ png, file, origin, ...image }) => ({
      ...image,
      png: new Uint8Array(Buffer.from(png, 'base64')),
      ...(file !== undefined && { file }),
      ...(origin && { origin }),
    })),
    ...(error && {
      error: {
        type: error.type,
        message: error.message,
        traceback: error.traceback,
        ...(error.line !== undefined && { line: error.line }),
      },
    }),
  };
}

export function toBase64(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64');
}
