/** JSON with bounds on nesting and on the number of values, checked before anything is built. */
import { SaccadeError } from '@saccade/core';

/** Bounds of a JSON text that comes from outside. */
export interface JsonLimits {
  /** Deepest nesting of objects and lists. Default 64. */
  readonly maxDepth?: number;
  /** Most values, keys included: each costs memory far beyond its bytes. Default 2,097,152. */
  readonly maxValues?: number;
}

/** The rule that a text broke: it is not JSON, nested too deeply, or has too many values. */
export type JsonFault = 'syntax' | 'depth' | 'values';

/** A text is not JSON within the limits; `fault` names the rule. */
export class JsonError extends SaccadeError {
  readonly fault: JsonFault;

  constructor(fault: JsonFault, message: string, options?: { cause?: unknown }) {
    super('json', message, options);
    this.fault = fault;
  }
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_LIST = 0x5b;
const CLOSE_LIST = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

/**
 * Parses JSON, after one linear pass that checks the limits before anything is built.
 *
 * @throws JsonError if the text is not JSON, is nested too deeply or has too many values
 */
export function parseJson(text: string, limits: JsonLimits = {}): unknown {
  const { maxDepth = 64, maxValues = 2 ** 21 } = limits;
  let depth = 0;
  let values = 1;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) {
      at = endOfString(text, at);
    } else if (code === COMMA || code === COLON) {
      if (++values > maxValues) {
        throw new JsonError('values', `The JSON has more than ${maxValues} values. Send less.`);
      }
    } else if (code === OPEN_LIST || code === OPEN_OBJECT) {
      if (++depth > maxDepth) {
        throw new JsonError(
          'depth',
          `The JSON is nested more than ${maxDepth} levels deep. Flatten it.`,
        );
      }
      values++;
    } else if (code === CLOSE_LIST || code === CLOSE_OBJECT) {
      depth--;
    }
  }
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new JsonError('syntax', 'The text is not JSON. Check how it was encoded.', { cause });
  }
}

/** Index of the quote that closes the string opened at `start`, or the text's length. */
function endOfString(text: string, start: number): number {
  for (let from = start + 1; ; ) {
    const quote = text.indexOf('"', from);
    if (quote < 0) return text.length;
    let first = quote;
    while (first > from && text.charCodeAt(first - 1) === BACKSLASH) first--;
    // An odd number of backslashes escapes the quote.
    if ((quote - first) % 2 === 0) return quote;
    from = quote + 1;
  }
}
