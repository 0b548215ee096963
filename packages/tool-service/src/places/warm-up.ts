/** Calls every tool once before it is needed: weights are read and processes started then. */
import { messageOf } from '@saccade/core';
import { CallFault } from '../faults.ts';
import type { DescribedTool } from '../wire.ts';
import { checkOutcome } from './check-outcome.ts';
import type { Place, Settled } from './place.ts';

/** A white image of 112×84 pixels, 8-bit RGB. */
const WHITE =
  'iVBORw0KGgoAAAANSUhEUgAAAHAAAABUCAIAAADVvyQ8AAAAv0lEQVR4Xu3QMQEAAAzDoPk3vZrICRK4JyU0JjQmNCY0JjQmNCY0JjQmNCY0JjQmNCY0JjQmNCY0JjQmNCY0JjQmNCY0JjQmNCY0JjQmNCY0JjQmNCY0JjQmNCY0JjQmNCY0JjQmNCY0JjQmNCY0JjQmNCY0JjQmNCY0JjQmNCY0JjQmNCY0JjQmNCY0JjQmNCY0JjQmNCY0JjQmNCY0JjQmNCY0JjQmNCY0JjQmNCY0JjQmNCY0JjQmNCY0JjQ2KhHYJHHlPUEAAAAASUVORK5CYII=';

export interface WarmUpOptions {
  readonly tools: readonly Pick<DescribedTool, 'name' | 'example'>[];
  /** For all tools together. */
  readonly seconds: number;
  /** Limit per image that a tool returns. */
  readonly maxPixels: number;
  readonly run: Place['run'];
}

/**
 * Makes each tool's example call, one after another. An outcome of any kind will do: whether a tool
 * finds something in a white image is not the question.
 *
 * @throws CallFault of the first tool whose call has no outcome
 */
export async function warmUp({ tools, seconds, maxPixels, run }: WarmUpOptions): Promise<void> {
  const png = new Uint8Array(Buffer.from(WHITE, 'base64'));
  const images = [{ name: 'image_0', png, width: 112, height: 84 }];
  const controller = new AbortController();
  const runMs = seconds * 1000;
  const timer = setTimeout(() => {
    const message = `Its first call was not done within ${seconds} seconds.`;
    controller.abort(new CallFault('deadline', message));
  }, runMs);
  try {
    for (const { name, example } of tools) {
      const { signal } = controller;
      let end: Settled | undefined;
      await run(name, [{ given: example, images, signal, runMs }], (_, settled) => {
        end = settled;
      });
      try {
        checkEnd(end, maxPixels);
      } catch (error) {
        throw new CallFault('unavailable', `${name} is not ready: ${messageOf(error)}`, {
          cause: error,
        });
      }
    }
  } finally {
    clearTimeout(timer);
  }
}

/** @throws CallFault where it is no outcome */
function checkEnd(end: Settled | undefined, maxPixels: number): void {
  if (end === undefined) throw new CallFault('failed', 'It did not end.');
  if ('fault' in end) throw end.fault;
  checkOutcome(end.outcome, maxPixels);
}
