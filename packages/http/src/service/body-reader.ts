/** Reads bodies of requests within limits: bytes, time, all bodies together, depth and values. */
import { ConfigError } from '@saccade/core';
import { JsonError, parseJson } from '../json.ts';
import { badRequest, Refusal } from './refusal.ts';

/** Limits of request bodies. A body beyond them is refused while it arrives, with a 4xx or 503. */
export interface BodyLimits {
  /** Largest body, in bytes. Default 32 MiB. */
  readonly maxBytes?: number;
  /** Most bytes of all bodies being received at once. Default twice `maxBytes`. */
  readonly maxBytesTogether?: number;
  /** Time from the end of the headers to the end of the body. Default 60. */
  readonly seconds?: number;
  /** Deepest nesting of JSON. Default 64. */
  readonly maxDepth?: number;
  /** Most values in a body's JSON. Default 2,097,152. */
  readonly maxValues?: number;
}

/** Longest string of V8, in characters. */
const LARGEST_BYTES = 2 ** 29 - 24;

export class BodyReader {
  readonly #limits: Required<BodyLimits>;
  #heldBytes = 0;

  /** @throws ConfigError if a limit is out of range */
  constructor(limits: BodyLimits = {}) {
    const { maxBytes = 32 * 2 ** 20 } = limits;
    if (!(maxBytes > 0 && maxBytes <= LARGEST_BYTES)) {
      throw new ConfigError(
        'maxBytes',
        `maxBytes: expected 1 to ${LARGEST_BYTES}, the longest text of JavaScript, got ${maxBytes}.`,
      );
    }
    this.#limits = {
      maxBytes,
      maxBytesTogether: limits.maxBytesTogether ?? 2 * maxBytes,
      seconds: limits.seconds ?? 60,
      maxDepth: limits.maxDepth ?? 64,
      maxValues: limits.maxValues ?? 2 ** 21,
    };
  }

  /** Bytes of bodies in memory that are not parsed yet. */
  get heldBytes(): number {
    return this.#heldBytes;
  }

  /** Parses the JSON of a body. @throws Refusal with status 400 */
  parse(text: string): unknown {
    const { maxDepth, maxValues } = this.#limits;
    try {
      return parseJson(text, { maxDepth, maxValues });
    } catch (error) {
      if (!(error instanceof JsonError)) throw error;
      if (error.fault === 'syntax') throw badRequest('The body is not JSON.');
      const isDeep = error.fault === 'depth';
      throw new Refusal({
        status: 400,
        code: isDeep ? 'too-deep' : 'too-many-values',
        fact: isDeep
          ? `The JSON is nested more than ${maxDepth} levels deep.`
          : `The JSON has more than ${maxValues} values.`,
        remedy: isDeep ? 'Send a flatter body.' : 'Send less at a time.',
        rule: isDeep ? 'json-depth' : 'json-values',
      });
    }
  }

  /**
   * Reads the body as UTF-8 text.
   *
   * @param signal ends the wait for the body
   * @throws Refusal with a 4xx status, or 503 while the service is too busy or stopping
   */
  async text(request: Request, signal: AbortSignal): Promise<string> {
    return await this.#take(request, signal, (bytes) => {
      try {
        return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
      } catch {
        throw badRequest('The body is not UTF-8 text.');
      }
    });
  }

  /** Reads the body as bytes. @throws Refusal as `text` */
  async bytes(request: Request, signal: AbortSignal): Promise<Uint8Array> {
    return await this.#take(request, signal, (bytes) => bytes);
  }

  async #take<Body>(
    request: Request,
    signal: AbortSignal,
    convert: (bytes: Uint8Array) => Body,
  ): Promise<Body> {
    const encoding = request.headers.get('content-encoding');
    if (encoding !== null && encoding.toLowerCase() !== 'identity') {
      throw new Refusal({
        status: 415,
        code: 'content-encoding',
        fact: `Bodies in the encoding ${JSON.stringify(encoding.slice(0, 40))} are not read.`,
        remedy: 'Send the body without an encoding.',
      });
    }
    const declared = Number(request.headers.get('content-length') ?? Number.NaN);
    if (declared > this.#limits.maxBytes) throw this.#oversized();
    const { body } = request;
    if (body === null) return convert(new Uint8Array());
    const held = { bytes: 0 };
    try {
      return convert(await this.#read(body.getReader(), signal, held));
    } finally {
      this.#heldBytes -= held.bytes;
    }
  }

  async #read(
    reader: ReadableStreamDefaultReader<Uint8Array>,
    signal: AbortSignal,
    held: { bytes: number },
  ): Promise<Uint8Array> {
    const { maxBytes, maxBytesTogether, seconds } = this.#limits;
    let end: (why: 'slow' | 'aborted') => void = () => {};
    const ended = new Promise<'slow' | 'aborted'>((resolve) => {
      end = resolve;
    });
    const onAbort = (): void => end('aborted');
    const timer = setTimeout(() => end('slow'), 1000 * seconds);
    signal.addEventListener('abort', onAbort, { once: true });
    if (signal.aborted) onAbort();
    const blocks = new Blocks();
    try {
      for (;;) {
        const step = await Promise.race([nextChunk(reader), ended]);
        if (step === 'slow') throw tooSlow(seconds);
        if (step === 'aborted') throw stoppedBefore();
        if (step === 'broken') throw badRequest('The body broke off.');
        if (step === 'end') return blocks.joined();
        const size = held.bytes + step.byteLength;
        if (size > maxBytes) throw this.#oversized();
        if (this.#heldBytes + step.byteLength > maxBytesTogether) throw tooMuchTogether();
        blocks.append(step);
        this.#heldBytes += step.byteLength;
        held.bytes = size;
      }
    } catch (error) {
      reader.cancel().catch(() => {});
      throw error;
    } finally {
      clearTimeout(timer);
      signal.removeEventListener('abort', onAbort);
    }
  }

  #oversized(): Refusal {
    return new Refusal({
      status: 413,
      code: 'too-large',
      fact: `The request has more than ${this.#limits.maxBytes} bytes.`,
      remedy: 'Send less at a time.',
      rule: 'body-size',
    });
  }
}

async function nextChunk(
  reader: ReadableStreamDefaultReader<Uint8Array>,
): Promise<Uint8Array | 'end' | 'broken'> {
  try {
    const { done, value } = await reader.read();
    return done ? 'end' : value;
  } catch {
    return 'broken';
  }
}

const FIRST_BLOCK = 16 * 1024;
const BLOCK = 2 ** 20;

/** Collects bytes in blocks, so that many small pieces take no more memory than their bytes. */
class Blocks {
  readonly #full: Uint8Array[] = [];
  #block = new Uint8Array(FIRST_BLOCK);
  #used = 0;

  append(piece: Uint8Array): void {
    for (let at = 0; at < piece.byteLength; ) {
      if (this.#used === this.#block.byteLength) {
        this.#full.push(this.#block);
        this.#block = new Uint8Array(BLOCK);
        this.#used = 0;
      }
      const part = piece.subarray(at, at + this.#block.byteLength - this.#used);
      this.#block.set(part, this.#used);
      this.#used += part.byteLength;
      at += part.byteLength;
    }
  }

  joined(): Uint8Array {
    const last = this.#block.subarray(0, this.#used);
    return this.#full.length === 0 ? last : Buffer.concat([...this.#full, last]);
  }
}

function tooSlow(seconds: number): Refusal {
  return new Refusal({
    status: 408,
    code: 'slow-body',
    fact: `The body did not arrive within ${seconds} seconds.`,
    remedy: 'Send it faster, or less at a time.',
    rule: 'slow-body',
  });
}

function stoppedBefore(): Refusal {
  return new Refusal({
    status: 503,
    code: 'draining',
    fact: 'The service is stopping, or the client left, before the body arrived.',
    remedy: 'Ask another one, or this one after its restart.',
    retryAfterSeconds: 5,
  });
}

function tooMuchTogether(): Refusal {
  return new Refusal({
    status: 503,
    code: 'busy',
    fact: 'The service is receiving as much as it can hold.',
    remedy: 'Try again.',
    retryAfterSeconds: 1,
  });
}
