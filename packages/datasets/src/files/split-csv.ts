/** Rows of a CSV file, which may hold line breaks between quotes, as records. */
import type { Splitter, Splitting } from './record-file.ts';

const [QUOTE, NEWLINE] = [0x22, 0x0a];

class Rows implements Splitter {
  #begun: number;
  #isQuoted = false;
  #isFilled = false;

  constructor(place: number) {
    this.#begun = place;
  }

  push(bytes: Uint8Array, at: number, tell: (start: number, end: number) => void): void {
    for (let i = 0; i < bytes.length; i++) {
      const byte = bytes[i] as number;
      // Two quotes, which stand for one, leave the state as it was.
      if (byte === QUOTE) this.#isQuoted = !this.#isQuoted;
      if (byte > 0x20) this.#isFilled = true;
      if (byte !== NEWLINE || this.#isQuoted) continue;
      if (this.#isFilled) tell(this.#begun, at + i);
      this.#begun = at + i + 1;
      this.#isFilled = false;
    }
  }

  end(at: number, tell: (start: number, end: number) => void): void {
    if (this.#isFilled) tell(this.#begun, at);
  }
}

export const csvRows: Splitting = {
  atStart: () => new Rows(0),
  atRecord: (place) => new Rows(place),
};
