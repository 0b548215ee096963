/** Whether what a tool gave is an outcome: tools are other people's code. */
import { messageOf } from '@saccade/core';
import { type Outcome, outcomeSchema } from '@saccade/sandbox';
import { checkImage } from '@saccade/tools';
import { z } from 'zod';
import { CallFault } from '../faults.ts';

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
  for (const [index, image] of outcome.images.entries()) {
    try {
      checkImage(image, `Image ${index} of its outcome`, maxPixels);
    } catch (error) {
      throw new CallFault('garbled', messageOf(error), { cause: error });
    }
  }
  return outcome;
}
