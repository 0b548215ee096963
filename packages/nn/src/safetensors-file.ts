/** A safetensors file that is open: its header is checked, its tensors are read by range. */
import { type FileHandle, open } from 'node:fs/promises';
import { DataError, messageOf } from '@saccade/core';
import {
  type Header,
  headerLength,
  parseHeader,
  type TensorEntry,
  unsound,
} from './safetensors-header.ts';

/** Reads parts of a file's tensors. Close it after use. */
export class SafetensorsFile {
  readonly path: string;
  /** Its tensors by name, in the order of their bytes. */
  readonly tensors: ReadonlyMap<string, TensorEntry>;
  readonly metadata: Header['metadata'];
  readonly #file: FileHandle;
  /** Where the bytes of the tensors begin. */
  readonly #dataStart: number;

  private constructor(
    path: string,
    file: FileHandle,
    dataStart: number,
    { tensors, metadata }: Header,
  ) {
    this.path = path;
    this.#file = file;
    this.#dataStart = dataStart;
    this.metadata = metadata;
    this.tensors = new Map(tensors.map((tensor) => [tensor.name, tensor]));
  }

  /** @throws DataError naming the defect, or why the file cannot be read */
  static async open(path: string): Promise<SafetensorsFile> {
    let file: FileHandle | undefined;
    try {
      file = await open(path);
      const { size } = await file.stat();
      const first = new Uint8Array(Math.min(8, size));
      await readRange(path, file, first, 0);
      const header = new Uint8Array(headerLength(path, first, size));
      await readRange(path, file, header, 8);
      const dataStart = 8 + header.length;
      const parsed = parseHeader(path, new TextDecoder().decode(header), size - dataStart);
      return new SafetensorsFile(path, file, dataStart, parsed);
    } catch (error) {
      await file?.close();
      throw unreadable(path, error);
    }
  }

  /** Fills `into` from byte `position` of a tensor. @throws DataError if the file has ended */
  async read({ start }: TensorEntry, into: Uint8Array, position = 0): Promise<void> {
    try {
      await readRange(this.path, this.#file, into, this.#dataStart + start + position);
    } catch (error) {
      throw unreadable(this.path, error);
    }
  }

  close(): Promise<void> {
    return this.#file.close();
  }
}

/** A defect unchanged; an error of the operating system as a DataError. */
export function unreadable(path: string, error: unknown): unknown {
  if (error instanceof DataError || !(error instanceof Error)) return error;
  if ((error as NodeJS.ErrnoException).code === undefined) return error;
  return new DataError(`${path} cannot be read: ${messageOf(error)}. Check the path.`, {
    cause: error,
  });
}

async function readRange(path: string, file: FileHandle, into: Uint8Array, position: number) {
  for (let done = 0; done < into.length; ) {
    const { bytesRead } = await file.read(into, done, into.length - done, position + done);
    if (bytesRead === 0) {
      throw unsound(path, `it ended at byte ${position + done} while being read`);
    }
    done += bytesRead;
  }
}
