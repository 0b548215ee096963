/** A text file of records (lines, elements of a list, rows with quotes), read by their numbers. */
import { DataError } from '@saccade/core';
import { ByteFile } from './byte-file.ts';
import { StrideIndex } from './stride-index.ts';

/** Finds records in bytes that come one after another. */
export interface Splitter {
  /**
   * Takes the next bytes, the first at `at` of the file, and tells the bounds of each record that
   * ends in them.
   *
   * @throws DataError if the file is not of the format
   */
  push(bytes: Uint8Array, at: number, tell: (start: number, end: number) => void): void;
  /** Ends the file at `at`: a last record may have no end of its own. */
  end(at: number, tell: (start: number, end: number) => void): void;
}

/** Makes splitters: at the begin of a file, or where a record begins. */
export interface Splitting {
  atStart(): Splitter;
  atRecord(place: number): Splitter;
}

/** One record's text, or that it is too long. */
export type RecordText =
  | { readonly text: string; readonly problem?: undefined }
  | { readonly text?: undefined; readonly problem: string };

/** Records that are read together, at most. */
const SPAN_BYTES = 2 ** 22;

/** An indexed file of records. */
export class RecordFile {
  readonly #file: ByteFile;
  readonly #splitting: Splitting;
  readonly #index: StrideIndex;
  readonly #maxBytes: number;

  private constructor(file: ByteFile, splitting: Splitting, index: StrideIndex, maxBytes: number) {
    this.#file = file;
    this.#splitting = splitting;
    this.#index = index;
    this.#maxBytes = maxBytes;
  }

  /**
   * Opens a file and finds its records, once over all of its bytes.
   *
   * @throws DataError if the file is not of the format
   */
  static async open(path: string, splitting: Splitting, maxBytes: number): Promise<RecordFile> {
    const file = await ByteFile.open(path);
    const index = new StrideIndex();
    try {
      const splitter = splitting.atStart();
      const tell = (start: number) => index.add(start);
      for await (const { at, bytes } of file.scan(0)) splitter.push(bytes, at, tell);
      splitter.end(file.size, tell);
    } catch (error) {
      await file.close();
      if (!(error instanceof DataError)) throw error;
      throw new DataError(`${path}: ${error.message}`, { cause: error });
    }
    return new RecordFile(file, splitting, index, maxBytes);
  }

  get count(): number {
    return this.#index.count;
  }

  /** The texts of the records [start, end). */
  async read(start: number, end: number): Promise<readonly RecordText[]> {
    const bounds = await this.#boundsOf(start, Math.min(end, this.count));
    const texts: RecordText[] = [];
    for (let i = 0; i < bounds.length; ) {
      const first = bounds[i] as Bounds;
      if (first.end - first.start > this.#maxBytes) {
        const size = first.end - first.start;
        texts.push({ problem: `takes ${size} bytes; at most ${this.#maxBytes} are read` });
        i++;
        continue;
      }
      let next = i + 1;
      while (next < bounds.length && (bounds[next] as Bounds).end - first.start <= SPAN_BYTES) next++;
      const last = bounds[next - 1] as Bounds;
      const bytes = await this.#file.read(first.start, last.end);
      for (const one of bounds.slice(i, next)) {
        texts.push({ text: bytes.toString('utf8', one.start - first.start, one.end - first.start) });
      }
      i = next;
    }
    return texts;
  }

  async #boundsOf(start: number, end: number): Promise<readonly Bounds[]> {
    if (end <= start) return [];
    const { record, place } = this.#index.before(start);
    const bounds: Bounds[] = [];
    let number = record;
    const tell = (from: number, to: number) => {
      if (number >= start && number < end) bounds.push({ start: from, end: to });
      number++;
    };
    const splitter = this.#splitting.atRecord(place);
    for await (const { at, bytes } of this.#file.scan(place)) {
      splitter.push(bytes, at, tell);
      if (number >= end) return bounds;
    }
    splitter.end(this.#file.size, tell);
    return bounds;
  }

  async close(): Promise<void> {
    await this.#file.close();
  }
}

interface Bounds {
  readonly start: number;
  readonly end: number;
}
