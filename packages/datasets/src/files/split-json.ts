/** The elements of a list in a JSON file, as records: of the root, or of a key of the root; or the
 * members of the root itself, each with its key. */
import { DataError } from '@saccade/core';
import type { Splitter, Splitting } from './record-file.ts';

const [QUOTE, BACKSLASH, COMMA, COLON] = [0x22, 0x5c, 0x2c, 0x3a];
const [OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = [0x5b, 0x5d, 0x7b, 0x7d];

/** Stands for the members of the root, as `"key": { … }`. */
export const MEMBERS = '*';

/** Bytes of a key that are remembered, to compare it. */
const LONGEST_KEY = 256;

/**
 * Follows strings and nesting only: whether a record is valid JSON shows when it is parsed. In a root
 * that is an object, the list is that of `key`, or else its first list.
 */
class Elements implements Splitter {
  readonly #key: string | undefined;
  #depth = 0;
  #isInString = false;
  #isEscaped = false;
  /** Depth inside the list; 0 before it is found, −1 after its end. */
  #listDepth = 0;
  #begun = -1;
  #last = -1;
  #keyBytes: number[] = [];
  #lastKey = '';
  #isAfterColon = false;

  constructor(key: string | undefined, place?: number) {
    this.#key = key;
    if (place === undefined) return;
    this.#listDepth = 1;
    this.#depth = 1;
  }

  push(bytes: Uint8Array, at: number, tell: (start: number, end: number) => void): void {
    for (let i = 0; i < bytes.length; i++) {
      const byte = bytes[i] as number;
      if (this.#isInString) {
        this.#inString(byte, at + i);
        continue;
      }
      if (byte <= 0x20) continue;
      if (this.#listDepth > 0 && this.#depth === this.#listDepth) {
        if (byte === COMMA || byte === CLOSE_LIST || byte === CLOSE_OBJECT) {
          if (this.#begun >= 0) tell(this.#begun, this.#last + 1);
          this.#begun = -1;
          if (byte === COMMA) continue;
          this.#listDepth = -1;
          this.#depth--;
          continue;
        }
        if (this.#begun < 0) this.#begun = at + i;
      }
      this.#last = at + i;
      this.#outside(byte);
    }
  }

  #inString(byte: number, place: number): void {
    this.#last = place;
    if (this.#isEscaped) this.#isEscaped = false;
    else if (byte === BACKSLASH) this.#isEscaped = true;
    else if (byte === QUOTE) {
      this.#isInString = false;
      if (this.#isSeeking()) this.#lastKey = Buffer.from(this.#keyBytes).toString('utf8');
      return;
    }
    if (this.#isSeeking() && this.#keyBytes.length < LONGEST_KEY) this.#keyBytes.push(byte);
  }

  #isSeeking(): boolean {
    return this.#listDepth === 0 && this.#depth === 1;
  }

  #outside(byte: number): void {
    if (this.#depth === 0 && byte === OPEN_OBJECT && this.#key === MEMBERS) {
      this.#listDepth = 1;
      this.#depth = 1;
      return;
    }
    if (byte === QUOTE) {
      this.#isInString = true;
      this.#keyBytes = [];
    } else if (byte === OPEN_LIST || byte === OPEN_OBJECT) {
      const isRoot = this.#depth === 0;
      this.#depth++;
      if (byte === OPEN_LIST && this.#listDepth === 0) {
        const isOfKey = this.#depth === 2 && this.#isAfterColon;
        const isWanted = this.#key === undefined || this.#key === this.#lastKey;
        if (isRoot || (isOfKey && isWanted)) this.#listDepth = this.#depth;
      }
      this.#isAfterColon = false;
    } else if (byte === CLOSE_LIST || byte === CLOSE_OBJECT) {
      this.#depth--;
    } else if (byte === COLON) {
      this.#isAfterColon = true;
    } else if (byte === COMMA) {
      this.#isAfterColon = false;
    }
  }

  end(): void {
    if (this.#listDepth < 0) return;
    if (this.#listDepth > 0) {
      throw new DataError(
        'the list of records has no end: the file is not whole. Download or write it again.',
      );
    }
    const wanted = this.#key === undefined ? 'a list' : `a list at the key "${this.#key}"`;
    throw new DataError(`expected ${wanted} of records. Name its key in the setting records.`);
  }
}

/** @param key  of the root that has the list; undefined: the first that has one */
export function jsonElements(key: string | undefined): Splitting {
  return {
    atStart: () => new Elements(key),
    atRecord: (place) => new Elements(key, place),
  };
}
