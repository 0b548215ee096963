/**
 * Finds stop strings in a growing sequence of tokens by bytes, so that split characters do not
 * matter.
 */
import type { TextCodec } from '../processor/text-codec.ts';

/** Bytes as characters below 256. */
function latin1(bytes: Uint8Array): string {
  return String.fromCharCode(...bytes);
}

export class StopMatcher {
  readonly #stops: readonly string[];
  readonly #codec: TextCodec;
  readonly #longest: number;
  #tail = '';

  constructor(stops: readonly string[], codec: TextCodec) {
    const encoder = new TextEncoder();
    this.#stops = stops.map((stop) => latin1(encoder.encode(stop)));
    this.#longest = Math.max(0, ...this.#stops.map((stop) => stop.length));
    this.#codec = codec;
  }

  /** Adds a token; true if a stop string is complete now. */
  push(token: number): boolean {
    if (this.#longest === 0) return false;
    this.#tail += latin1(this.#codec.bytesOf(token));
    const isFound = this.#stops.some((stop) => this.#tail.includes(stop));
    this.#tail = this.#tail.slice(-this.#longest + 1 || this.#tail.length);
    return isFound;
  }
}
