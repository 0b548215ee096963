/** Whether what a tool gave is an outcome: tools are other people's code. */
import { messageOf } from '@saccade/core';
import { type Outcome, outcomeSchema } from '@saccade/sandbox';
import { z } from 'zod';
import { CallFault } from '../faults.ts';
import { checkPng } from '../png.ts';

const { png: _, ...imageShape } = outcomeSchema.shape.images.element.shape;

const givenSchema = outcomeSchema.extend({
  images: z.array(z.object({ ...imageShape, png: z.instanceof(Uint8Array) })),
});

/**
 * The outcome, without anything that outcomes do not have.
 *
 * @param maxPixels of one image
 * @throws CallFault `garbled` for anything else, `failed` for an outcome that says so itself
 */
export function checkOutcome(given: unknown, maxPixels: number): Outcome {
  const parsed = givenSchema.safeParse(given);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    const place = issue?.path.map(String).join('.').slice(0, 100) || 'the whole';
    throw new CallFault(
      'garbled',
      `It gave no outcome: ${place}: ${issue?.message.slice(0, 200)}.`,
    );
  }
  // The schema's optional keys are absent or have a value: it was never `undefined` that was read.
  const outcome = parsed.data as Outcome;
  if (outcome.kind === 'infraError') {
    throw new CallFault('failed', outcome.error?.message ?? 'It says that it failed.');
  }
  for (const [index, { png, width, height }] of outcome.images.entries()) {
    checkImage(png, { width, height }, `Image ${index} of its outcome`, maxPixels);
  }
  return outcome;
}

function checkImage(
  png: Uint8Array,
  said: { readonly width: number; readonly height: number },
  what: string,
  maxPixels: number,
): void {
  let size: typeof said;
  try {
    size = checkPng(png, what, maxPixels);
  } catch (error) {
    throw new CallFault('garbled', messageOf(error), { cause: error });
  }
  if (size.width === said.width && size.height === said.height) return;
  const sizes = [size, said].map(({ width, height }) => `${width}×${height}`);
  throw new CallFault('garbled', `${what} is ${sizes[0]} and says that it is ${sizes[1]}.`);
}
