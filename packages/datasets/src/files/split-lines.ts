/** Lines that are not blank, as records. */
import type { Splitter, Splitting } from './record-file.ts';

const NEWLINE = 0x0a;

class Lines implements Splitter {
  #begun: number;
  /** Whether the line so far has anything but blanks. */
  #isFilled = false;

  constructor(place: number) {
    this.#begun = place;
  }

  push(bytes: Uint8Array, at: number, tell: (start: number, end: number) => void): void {
    let from = 0;
    for (;;) {
      const newline = bytes.indexOf(NEWLINE, from);
      const to = newline < 0 ? bytes.length : newline;
      this.#isFilled ||= isFilled(bytes, from, to);
      if (newline < 0) return;
      if (this.#isFilled) tell(this.#begun, at + newline);
      this.#begun = at + newline + 1;
      this.#isFilled = false;
      from = newline + 1;
    }
  }

  end(at: number, tell: (start: number, end: number) => void): void {
    if (this.#isFilled) tell(this.#begun, at);
  }
}

/** Whether bytes have one that is no blank, nor a mark of their order. */
function isFilled(bytes: Uint8Array, from: number, to: number): boolean {
  for (let i = from; i < to; i++) {
    const byte = bytes[i] as number;
    if (byte > 0x20 && byte !== 0xef && byte !== 0xbb && byte !== 0xbf) return true;
  }
  return false;
}

export const lines: Splitting = {
  atStart: () => new Lines(0),
  atRecord: (place) => new Lines(place),
};
