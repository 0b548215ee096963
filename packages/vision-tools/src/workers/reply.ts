/** The decoded answers of workers: a worker is trusted no further than its bytes. */
import { z } from 'zod';
import { isPng } from '../png.ts';
import type { Frame } from './frames.ts';

/** An image that an operation made. */
export interface EngineImage {
  readonly png: Uint8Array;
  readonly width: number;
  readonly height: number;
}

/** How an operation ended. */
export type Reply =
  | {
      readonly kind: 'result';
      readonly id: number;
      readonly result: unknown;
      readonly images: readonly EngineImage[];
      /** Milliseconds of work in the worker, by the clock and of all its threads. */
      readonly ms: number;
      readonly cpuMs: number;
    }
  | {
      readonly kind: 'fault';
      readonly id: number;
      /** `declined`: it cannot do that; `memory`: the worker's limit; `error`: a defect of ours. */
      readonly fault: 'declined' | 'memory' | 'error';
      readonly type: string;
      readonly message: string;
      readonly trace: string;
    };

const side = z.int().min(1).max(100_000);
const reply = z.discriminatedUnion('ok', [
  z.object({
    id: z.int(),
    ok: z.literal(true),
    result: z.unknown(),
    sizes: z.array(z.tuple([side, side])),
    ms: z.number().min(0),
    cpuMs: z.number().min(0),
  }),
  z.object({
    id: z.int(),
    ok: z.literal(false),
    fault: z.enum(['declined', 'memory', 'error']),
    type: z.string().max(200),
    message: z.string().max(4000),
    trace: z.string().max(8000),
  }),
]);
const ready = z.object({ ready: z.literal(true), opencv: z.string() });

/** @throws ZodError or RangeError for what is no reply */
export function decodeReply({ header, blobs }: Frame): Reply {
  const read = reply.parse(header);
  if (!read.ok) {
    const { id, fault, type, message, trace } = read;
    return { kind: 'fault', id, fault, type, message, trace };
  }
  if (read.sizes.length !== blobs.length) throw new RangeError('images without their sizes');
  const images = read.sizes.map(([width, height], index) => {
    const png = blobs[index] ?? new Uint8Array();
    if (!isPng(png)) throw new RangeError('an image that is no PNG');
    return { png, width, height };
  });
  const { id, result, ms, cpuMs } = read;
  return { kind: 'result', id, result, images, ms, cpuMs };
}

/** @throws ZodError for what is not the first frame of a worker */
export function decodeReady({ header }: Frame): { readonly opencv: string } {
  return ready.parse(header);
}
