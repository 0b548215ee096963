/** An image of a size, as a processor prepares it. */
import { encode } from 'fast-png';
import type { ModelImage } from '../batch.ts';
import type { Processor } from '../policy.ts';

/** A blank image of these many pixels a side, shrunk as the processor shrinks images. */
export function largestImage(
  processor: Pick<Processor, 'prepareImage'>,
  width: number,
  height: number,
): Promise<ModelImage> {
  const data = new Uint8Array(width * height * 3);
  return processor.prepareImage(encode({ width, height, data, channels: 3 }));
}
