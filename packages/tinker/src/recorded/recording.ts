/** A recording of a conversation with a server: lines of JSON, a label first, then each exchange. */
import { createHash } from 'node:crypto';
import { DataError, messageOf } from '@saccade/core';
import { z } from '@saccade/core/settings';

/** A body: text as it was, other bytes in base64, and long requests by their hash alone. */
const body = z.union([
  z.strictObject({ type: z.string().optional(), text: z.string() }),
  z.strictObject({ type: z.string().optional(), base64: z.string() }),
  z.strictObject({ type: z.string().optional(), sha256: z.string(), sizeBytes: z.number().int() }),
]);

const label = z.strictObject({
  format: z.literal('saccade-recording/1'),
  /** The server, by the name that its makers gave it. */
  server: z.string().min(1),
  /** Its version or commit. */
  version: z.string().min(1),
  /** The model there, how it was started, and what was asked of it. */
  ran: z.string().min(1),
  /** Day of the recording. */
  date: z.string().min(1),
});

const exchange = z.strictObject({
  method: z.string(),
  path: z.string(),
  request: body,
  status: z.number().int(),
  answer: body,
});

/** The bytes of one request or answer. */
export type RecordedBody = z.output<typeof body>;
/** Where a recording comes from. */
export type RecordingLabel = Omit<z.output<typeof label>, 'format'>;
/** One request and its answer. Of the headers only content types are kept, so no token is. */
export type Exchange = z.output<typeof exchange>;

/** A conversation, in the order of its requests. */
export interface Recording {
  readonly label: RecordingLabel;
  readonly exchanges: readonly Exchange[];
}

/** Longer requests are kept by their hash: they are compared, never sent. */
const LONGEST_REQUEST_BYTES = 8192;

/** Bytes as a recording keeps them. */
export function recordedBody(bytes: Uint8Array, type: string | null | undefined): RecordedBody {
  const kind = type == null ? {} : { type };
  if (!isText(type)) return { ...kind, base64: Buffer.from(bytes).toString('base64') };
  return { ...kind, text: new TextDecoder().decode(bytes) };
}

/** Bytes of a request as a recording keeps them. */
export function recordedRequest(bytes: Uint8Array, type: string | null | undefined): RecordedBody {
  if (bytes.length <= LONGEST_REQUEST_BYTES) return recordedBody(bytes, type);
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  return { ...(type != null && { type }), sha256, sizeBytes: bytes.length };
}

/** The bytes of an answer. @throws DataError for a body that is kept by its hash alone */
export function bytesOf(recorded: RecordedBody): Uint8Array<ArrayBuffer> {
  if ('text' in recorded) return new TextEncoder().encode(recorded.text);
  if ('base64' in recorded) return Uint8Array.from(Buffer.from(recorded.base64, 'base64'));
  throw new DataError('An answer was recorded by its hash alone, so it cannot be given again.');
}

export function labelLine(given: RecordingLabel): string {
  return `${JSON.stringify({ format: 'saccade-recording/1', ...given })}\n`;
}

export function exchangeLine(given: Exchange): string {
  return `${JSON.stringify(given)}\n`;
}

/** @throws DataError naming the line that cannot be read */
export function parseRecording(what: string, text: string): Recording {
  const lines = text.split('\n').filter((line) => line !== '');
  const read = <Output>(schema: z.ZodType<Output>, line: string, at: number): Output => {
    try {
      return schema.parse(JSON.parse(line));
    } catch (cause) {
      const message = `${what}: line ${at + 1} is not one of a recording: ${messageOf(cause)}`;
      throw new DataError(message, { cause });
    }
  };
  const [first = '', ...rest] = lines;
  const { format: _, ...given } = read(label, first, 0);
  return { label: given, exchanges: rest.map((line, i) => read(exchange, line, i + 1)) };
}

function isText(type: string | null | undefined): boolean {
  return type == null || /^(text\/|application\/(json|problem\+json))/.test(type);
}
