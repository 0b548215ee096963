/** A file that is read by ranges of bytes. */
import { type FileHandle, open } from 'node:fs/promises';
import { DataError, MissingError, messageOf } from '@saccade/core';

/** Bytes of a scan's step. */
const CHUNK = 2 ** 20;

/** A file of fixed size, opened for reading at any place. */
export class ByteFile {
  readonly path: string;
  readonly size: number;
  readonly #handle: FileHandle;

  private constructor(path: string, size: number, handle: FileHandle) {
    this.path = path;
    this.size = size;
    this.#handle = handle;
  }

  /** @throws MissingError if it cannot be opened */
  static async open(path: string): Promise<ByteFile> {
    try {
      const handle = await open(path, 'r');
      return new ByteFile(path, (await handle.stat()).size, handle);
    } catch (error) {
      throw new MissingError(`${path} cannot be read: ${messageOf(error)}.`, { cause: error });
    }
  }

  /**
   * The bytes [start, end), at most those that there are, in memory of their own.
   *
   * @throws DataError if the file became shorter meanwhile
   */
  async read(start: number, end: number): Promise<Buffer> {
    const length = Math.max(0, Math.min(end, this.size) - start);
    const buffer = Buffer.allocUnsafeSlow(length);
    let done = 0;
    while (done < length) {
      const { bytesRead } = await this.#handle.read(buffer, done, length - done, start + done);
      if (bytesRead === 0) {
        throw new DataError(
          `${this.path} ended at byte ${start + done}; it had ${this.size} when it was opened. ` +
            'Leave the files of a data set alone while it is read.',
        );
      }
      done += bytesRead;
    }
    return buffer;
  }

  /** The file from a place on, in steps of a fixed size; each step reuses the memory of the last. */
  async *scan(start: number): AsyncGenerator<{ readonly at: number; readonly bytes: Buffer }> {
    const memory = Buffer.allocUnsafeSlow(Math.max(1, Math.min(CHUNK, this.size - start)));
    for (let at = start; at < this.size; ) {
      const { bytesRead } = await this.#handle.read(memory, 0, memory.length, at);
      if (bytesRead === 0) return;
      yield { at, bytes: memory.subarray(0, bytesRead) };
      at += bytesRead;
    }
  }

  async close(): Promise<void> {
    await this.#handle.close();
  }
}
