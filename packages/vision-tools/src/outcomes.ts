/** Outcomes of tools that run no code of the model's. */
import type { CapturedImage, Outcome } from '@saccade/sandbox';
import type { ToolImage } from '@saccade/tools';
import { type AffineMap, composeAffine } from '@saccade/trajectory';
import type { EngineImage } from './workers/reply.ts';

const nothing = {
  stdout: '',
  stderr: '',
  images: [],
  truncated: [],
  wallMs: 0,
  cpuMs: 0,
  maxRssKb: 0,
  tier: 'none',
} as const;

/**
 * The answer of a tool: its text, and images if it makes some.
 *
 * @param ms  milliseconds of work in Node; the time of the workers is added for the tool
 */
export function answered(
  stdout: string,
  {
    images = [],
    ms = 0,
  }: { readonly images?: readonly CapturedImage[]; readonly ms?: number } = {},
): Outcome {
  return { ...nothing, kind: 'ok', stdout, images, wallMs: ms };
}

/**
 * Why a tool gives no answer to a call that is well formed. Words that the model sees and metrics count:
 * `CannotAnswer` it is made for other questions; `NothingFound` there is no such thing in the image;
 * `UnreadableChart` its values cannot be scaled; `UnreadableImage`, `ImageTooLarge`.
 */
export function declined(type: string, message: string): Outcome {
  return {
    ...nothing,
    kind: 'exception',
    error: { type, message, traceback: `${type}: ${message}` },
  };
}

/**
 * An image that a tool made of one it was given.
 *
 * @param map  takes its pixel coordinates to those of `from`; by default they are the same
 */
export function madeOf(
  from: ToolImage,
  { png, width, height }: EngineImage,
  map: AffineMap = [1, 0, 0, 0, 1, 0],
): CapturedImage {
  const origin =
    from.origin === undefined
      ? { image: from.name, map }
      : { image: from.origin.image, map: composeAffine(from.origin.map, map) };
  return { png, width, height, source: 'image', origin };
}
