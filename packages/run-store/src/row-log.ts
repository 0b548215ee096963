/** A file of sealed rows that is open for appending. */
import { writeAll } from './durable-files.ts';
import type { FileSystem } from './file-system.ts';
import { sealRow } from './rows.ts';
import { storeError } from './store-error.ts';

/** Where a file of rows ends: its size, and the checksum to which the next row is linked. */
export interface RowsEnd {
  readonly sizeBytes: number;
  readonly link: string;
}

/** Appends rows to an open file. A row that cannot be written leaves no part of it behind. */
export class RowLog {
  readonly #fileSystem: FileSystem;
  readonly #path: string;
  readonly #file: number;
  #sizeBytes: number;
  #link: string;
  /** Set while the file may end in a part of a row. */
  #isTorn = false;

  /** @param file opened with `a` */
  constructor(fileSystem: FileSystem, path: string, file: number, { sizeBytes, link }: RowsEnd) {
    this.#fileSystem = fileSystem;
    this.#path = path;
    this.#file = file;
    this.#sizeBytes = sizeBytes;
    this.#link = link;
  }

  get sizeBytes(): number {
    return this.#sizeBytes;
  }

  /**
   * Appends a row.
   *
   * @param json an object with at least one member
   * @throws StoreError if it cannot be written
   */
  append(json: string): void {
    const sealed = sealRow(json, this.#link);
    const bytes = Buffer.from(`${sealed.line}\n`);
    try {
      if (this.#isTorn) this.#mend();
      this.#isTorn = true;
      writeAll(this.#fileSystem, this.#file, bytes);
      this.#isTorn = false;
    } catch (error) {
      try {
        this.#mend();
      } catch {
        // Tried again before the next row.
      }
      throw storeError(this.#path, error);
    }
    this.#sizeBytes += bytes.length;
    this.#link = sealed.own;
  }

  /** Flushes to the disk. @throws StoreError if it cannot */
  flush(): RowsEnd {
    try {
      if (this.#isTorn) this.#mend();
      this.#fileSystem.sync(this.#file);
    } catch (error) {
      throw storeError(this.#path, error);
    }
    return { sizeBytes: this.#sizeBytes, link: this.#link };
  }

  close(): void {
    this.#fileSystem.close(this.#file);
  }

  #mend(): void {
    this.#fileSystem.truncate(this.#file, this.#sizeBytes);
    this.#isTorn = false;
  }
}
