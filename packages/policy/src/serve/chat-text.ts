/** The text of a reply as it grows, without stop strings, with the calls at its end taken out. */

const OPEN = '<tool_call>';
const CLOSE = '</tool_call>';

/** A call as OpenAI's API has it. */
interface ReplyCall {
  readonly id: string;
  readonly type: 'function';
  readonly function: { readonly name: string; readonly arguments: string };
}

/** What a reply says: its content, and its calls. */
export interface Reply {
  readonly content: string;
  readonly calls: readonly ReplyCall[];
}

/**
 * Splits a whole text. Calls are in Hermes' form, `<tool_call>{"name": …, "arguments": …}`, as models
 * of Qwen are trained to write them. A text with a call that cannot be read is all content.
 *
 * @param id names the reply; its calls are named after it
 */
export function readReply(text: string, takesCalls: boolean, id: string): Reply {
  const start = takesCalls ? text.indexOf(OPEN) : -1;
  if (start < 0) return { content: text, calls: [] };
  const calls: ReplyCall[] = [];
  for (const piece of text.slice(start).split(OPEN).slice(1)) {
    const call = callIn(piece.split(CLOSE)[0] ?? '', `${id}-call-${calls.length}`);
    if (call === undefined) return { content: text, calls: [] };
    calls.push(call);
  }
  return { content: text.slice(0, start).trimEnd(), calls };
}

function callIn(json: string, id: string): ReplyCall | undefined {
  try {
    const { name, arguments: given } = JSON.parse(json) as Record<string, unknown>;
    if (typeof name !== 'string' || typeof given !== 'object' || given === null) return undefined;
    return { id, type: 'function', function: { name, arguments: JSON.stringify(given) } };
  } catch {
    return undefined;
  }
}

/** What of a growing text can be shown already. */
export class GrowingText {
  readonly #decode: (tokens: Int32Array) => string;
  readonly #ends: readonly string[];
  /** The last tokens, as long as their bytes may end within a character. */
  #open: number[] = [];
  /** Text of the tokens before. */
  #settled = '';
  #text = '';
  #shown = 0;

  /** @param ends strings before which the content ends: what may be their beginning is held back */
  constructor(decode: (tokens: Int32Array) => string, ends: readonly string[]) {
    this.#decode = decode;
    this.#ends = ends;
  }

  /** Adds a token; returns the text to show now, often none. */
  push(token: number): string {
    this.#open.push(token);
    const text = this.#decode(Int32Array.from(this.#open));
    // The bytes of one character that is cut short are one \uFFFD.
    const isCut = text.endsWith('\uFFFD');
    this.#text = this.#settled + (isCut ? text.slice(0, -1) : text);
    if (!isCut) {
      this.#settled = this.#text;
      this.#open = [];
    }
    return this.#take(this.#safeEnd());
  }

  /** The rest of a content that is known now. */
  finish(content: string): string {
    const rest = content.slice(this.#shown);
    this.#shown = content.length;
    return rest;
  }

  #take(end: number): string {
    const piece = this.#text.slice(this.#shown, Math.max(end, this.#shown));
    this.#shown += piece.length;
    return piece;
  }

  /** Before the first end, or what may be the beginning of one; spaces wait for what follows. */
  #safeEnd(): number {
    let end = this.#text.length;
    for (const mark of this.#ends) {
      const found = this.#text.indexOf(mark);
      if (found >= 0) end = Math.min(end, found);
      for (let length = Math.min(mark.length - 1, this.#text.length); length > 0; length--) {
        if (!this.#text.endsWith(mark.slice(0, length))) continue;
        end = Math.min(end, this.#text.length - length);
        break;
      }
    }
    return this.#text.slice(0, end).trimEnd().length;
  }
}

/** Where the content of a reply ends, besides its stop strings. */
export const callMark: string = OPEN;
