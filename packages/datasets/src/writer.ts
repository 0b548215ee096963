/** Writers as units: the formats that tasks are exported to. */
import type { Task } from '@saccade/gym';

/** What a writer is told of the export. */
export interface WriterContext {
  /** Folder of the export. */
  readonly directory: string;
  /** `train`, `validation`. */
  readonly split: string;
  /** Most bytes of one file; larger splits are divided into shards. */
  readonly maxShardBytes: number;
}

/** A format that tasks are written to. */
export interface Writer {
  readonly name: string;
  readonly description: string;
  /** Writes tasks as they come; gives the names of the files, relative to the folder. */
  write(tasks: AsyncIterable<Task>, context: WriterContext): Promise<WrittenFiles>;
}

/** The files of an exported split. */
export interface WrittenFiles {
  readonly files: readonly string[];
  readonly rowCount: number;
  readonly sizeBytes: number;
  /** Pattern that matches the files, for the card. */
  readonly pattern: string;
}

/** Defines your own writer, for the catalog. It returns `writer`, with its types inferred. */
export function defineWriter<const Name extends string>(
  writer: Writer & { readonly name: Name },
): Writer & { readonly name: Name } {
  return writer;
}
