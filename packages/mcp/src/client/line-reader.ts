/** Lines of a stream of bytes, none longer than a limit. */

export class LineReader {
  readonly #maxBytes: number;
  readonly #onLine: (line: string) => void;
  #pieces: Buffer[] = [];
  #held = 0;

  constructor(maxBytes: number, onLine: (line: string) => void) {
    this.#maxBytes = maxBytes;
    this.#onLine = onLine;
  }

  /** @returns whether all went well; false once a line is longer than allowed */
  push(piece: Buffer): boolean {
    let from = 0;
    for (let end = piece.indexOf(10); end >= 0; end = piece.indexOf(10, from)) {
      if (!this.#hold(piece.subarray(from, end))) return false;
      const line = Buffer.concat(this.#pieces).toString('utf8').trim();
      this.#pieces = [];
      this.#held = 0;
      from = end + 1;
      if (line !== '') this.#onLine(line);
    }
    return this.#hold(piece.subarray(from));
  }

  #hold(part: Buffer): boolean {
    this.#held += part.length;
    if (this.#held > this.#maxBytes) {
      this.#pieces = [];
      return false;
    }
    if (part.length > 0) this.#pieces.push(part);
    return true;
  }
}
