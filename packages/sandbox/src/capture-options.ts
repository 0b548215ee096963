/** Checks the options of a session for what it returns besides what its code shows. */
import { ConfigError } from '@saccade/core';
import { z } from 'zod';
import type { CaptureOptions } from './session.ts';

const pixels = z.number().int().min(1).max(4096);

/** Exact: a misspelt option would silently capture nothing. */
export const captureSchema: z.ZodType<CaptureOptions> = z.strictObject({
  lastExpression: z.boolean().exactOptional(),
  arrayChannels: z.enum(['RGB', 'BGR']).exactOptional(),
  printedFiles: z.boolean().exactOptional(),
  hidesNames: z.boolean().exactOptional(),
  savedFiles: z.boolean().exactOptional(),
  exceptFiles: z.array(z.string().min(1).max(1024)).max(256).exactOptional(),
  figures: z
    .strictObject({
      dpi: z.number().min(10).max(1200).exactOptional(),
      isTight: z.boolean().exactOptional(),
      leastSide: pixels.exactOptional(),
    })
    .exactOptional(),
  images: z
    .strictObject({
      most: z.number().int().min(0).max(1000).exactOptional(),
      mostAspect: z.number().min(1).max(10_000).exactOptional(),
      smallSides: z
        .strictObject({ below: pixels, enlargeTo: pixels.exactOptional() })
        .refine(({ below, enlargeTo = below }) => enlargeTo >= below, {
          path: ['enlargeTo'],
          error: 'expected at least `below`',
        })
        .exactOptional(),
    })
    .exactOptional(),
});

/**
 * The options as they are sent to a session's process.
 *
 * @throws ConfigError that names the field, what came and what was expected
 */
export function checkedCapture(options: CaptureOptions = {}): CaptureOptions {
  const parsed = captureSchema.safeParse(options);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const path = issue?.path ?? [];
  const unknown = issue?.code === 'unrecognized_keys' ? issue.keys.slice(0, 1) : [];
  const field = ['capture', ...path, ...unknown].join('.');
  if (unknown.length > 0) {
    const known = 'see CaptureOptions of @saccade/sandbox for those there are';
    throw new ConfigError(field, `There is no option ${field}; ${known}. Leave it out.`);
  }
  let came: unknown = options;
  for (const key of path) came = (came as Record<PropertyKey, unknown> | undefined)?.[key];
  const fact = `${field} is ${JSON.stringify(came)}. ${issue?.message}`;
  throw new ConfigError(field, `${fact}: give it as CaptureOptions of @saccade/sandbox says.`);
}
