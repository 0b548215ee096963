/** Reads the replies of a session. Each is submitted code's word: nothing is assumed. */
import { z } from 'zod';
import type { Limits } from './limits.ts';
import type { CapturedImage, Outcome } from './outcome.ts';
import type { Reply } from './reply.ts';
import { deathFrom, silentOutcome } from './result.ts';

/** The outcome of an execution by its reply, and the CPU time of the session until then. */
export interface Read {
  readonly outcome: Outcome;
  readonly cpuTotalMs: number;
}

const pngHead = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
const maxTextLength = 64 * 1024;

const measured = z.number().nonnegative();
const text = z.string().max(maxTextLength);
const line = z.int().optional().catch(undefined);
/** One line of text; nothing here is opened by it. */
const fileName = z.string().regex(/^\P{Cc}{1,1024}$/u);
const coordinate = z.number();
/** A hint that is dropped where it is none. */
const origin = z
  .object({
    image: text,
    /** [a, b, c, d, e, f]: see `CapturedImage.origin`. */
    map: z.tuple([coordinate, coordinate, coordinate, coordinate, coordinate, coordinate]),
  })
  .optional()
  .catch(undefined);
const imageEntry = z.union([
  z.object({
    source: z.enum(['figure', 'image', 'value']),
    file: z.undefined().optional(),
    origin,
  }),
  z.object({ source: z.literal('file'), file: fileName, origin }),
]);
const repair = z.object({
  kind: z.enum(['indentation', 'imagePath', 'cropBox']),
  before: z.string().max(1000),
  after: z.string().max(1000),
  line,
});

const opened = z.object({ cpuMs: measured });
const failed = z.object({ message: text });
/** An input that cannot be decoded, and why: an image by its place, or a video in words. */
export type RefusedInput =
  | { readonly image: number; readonly message: string }
  | { readonly video: string };

const refused: z.ZodType<RefusedInput> = z.union([
  z.object({ image: z.int().nonnegative(), message: text }),
  z.object({ video: text }),
]);
const died = z.object({
  cause: z.enum(['timeout', 'exit', 'fork']),
  signal: z.int().min(0).max(64),
  exitCode: z.int().min(0).max(255),
  wallMs: measured,
  cpuMs: measured,
  maxRssKb: measured,
});
const result = z.object({
  kind: z.enum(['ok', 'exception', 'memory', 'forbidden']),
  stdout: z.string(),
  stderr: z.string(),
  images: z.array(imageEntry),
  error: z.object({ type: text, message: text, traceback: text, line }).nullish(),
  truncated: z.array(z.enum(['stdout', 'stderr', 'images'])).max(3),
  repairs: z.array(repair).max(20).optional(),
  rolledBack: z.literal(true).optional().catch(undefined),
  wallMs: measured,
  cpuMs: measured,
  maxRssKb: measured,
});

/** CPU time of the start; undefined if the reply does not say. */
export function readOpened({ header }: Reply): number | undefined {
  return opened.safeParse(header).data?.cpuMs;
}

/** Why the walls or what is inside them could not be made. */
export function readFailed({ header }: Reply): string | undefined {
  return failed.safeParse(header).data?.message;
}

/** The input that could not be decoded, and why. */
export function readRefused({ header }: Reply): RefusedInput | undefined {
  return refused.safeParse(header).data;
}

/** The outcome of an execution that ended its process and left the session. */
export function readDied(
  { header }: Reply,
  limits: Limits,
  tier: string,
  cpuBeforeMs: number,
): Read | undefined {
  const { data } = died.safeParse(header);
  if (data === undefined) return undefined;
  const { wallMs, cpuMs, maxRssKb } = data;
  const outcome = silentOutcome(deathFrom(data, limits), tier, {
    ...{ wallMs, cpuMs: cpuMs - cpuBeforeMs, maxRssKb },
  });
  return { outcome: { ...outcome, rolledBack: true }, cpuTotalMs: cpuMs };
}

/** The outcome that a result tells; undefined if it is none within the limits. */
export function readResult(
  { header, blobs }: Reply,
  limits: Limits,
  tier: string,
  cpuBeforeMs: number,
): Read | undefined {
  const { data } = result.safeParse(header);
  if (data === undefined) return undefined;
  const { kind, stdout, stderr, error, repairs = [], rolledBack } = data;
  if (stdout.length > limits.outputBytes || stderr.length > limits.outputBytes) return undefined;
  if (data.images.length !== blobs.length || blobs.length > limits.imageCount) return undefined;
  const images: CapturedImage[] = [];
  for (const [index, png] of blobs.entries()) {
    const size = sizeOfPng(png, limits);
    const entry = data.images[index];
    if (size === undefined || entry === undefined) return undefined;
    const { source, file, origin: from } = entry;
    images.push({
      ...{ png, ...size, source },
      ...(file !== undefined && { file }),
      ...(from && { origin: from }),
    });
  }
  if (kind !== 'ok' && !error) return undefined;
  const outcome: Outcome = {
    ...{ kind, stdout, stderr, images },
    ...(error && { error: withoutEmptyLine(error) }),
    truncated: data.truncated,
    ...(repairs.length > 0 && { repairs: repairs.map(withoutEmptyLine) }),
    ...(rolledBack && { rolledBack }),
    wallMs: data.wallMs,
    cpuMs: Math.max(0, data.cpuMs - cpuBeforeMs),
    maxRssKb: data.maxRssKb,
    tier,
  };
  return { outcome, cpuTotalMs: data.cpuMs };
}

type WithLine<Value> = Omit<Value, 'line'> & { line?: number };

function withoutEmptyLine<Value extends { line?: number | undefined }>({
  line: found,
  ...rest
}: Value): WithLine<Value> {
  return found === undefined ? rest : { ...rest, line: found };
}

/** By its header; undefined for what is not a PNG, or has more pixels than allowed. */
function sizeOfPng(
  png: Uint8Array,
  { imagePixels }: Limits,
): { readonly width: number; readonly height: number } | undefined {
  if (png.length < 33 || !pngHead.equals(png.subarray(0, 8))) return undefined;
  const view = new DataView(png.buffer, png.byteOffset, png.byteLength);
  const [width, height] = [view.getUint32(16), view.getUint32(20)];
  if (width * height > imagePixels || width < 1 || height < 1) return undefined;
  return { width, height };
}
