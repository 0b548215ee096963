/** Appends samples to a suite: each is on the disk, whole, or not there at all. */
import { dirname } from 'node:path';
import { formatTrajectoryLine } from '@saccade/trajectory';
import { flush, makeDirectories, writeDurably } from '../durable-files.ts';
import { type FileSystem, type FileSystemOption, nodeFileSystem } from '../file-system.ts';
import { ImageNames, writeImages } from '../image-files.ts';
import { RowLog } from '../row-log.ts';
import { FIRST_LINK, readRows, sealRow } from '../rows.ts';
import { type Damage, storeError } from '../store-error.ts';
import type { WrittenTrajectory } from '../trajectory-set.ts';
import { listSampleFiles, type SampleKind, sampleFile } from './sample-files.ts';
import { samplesOf } from './task-list.ts';

/** Bytes from which a file of samples is followed by the next, so that each fits into memory. */
const MOST_BYTES = 64 * 2 ** 20;

/** Rows between two flushes: what a power loss may cost. A killed process costs none. */
const ROWS_PER_FLUSH = 16;

/** Options of `openSampleLog`. */
export interface SampleLogOptions extends FileSystemOption {
  /** Bytes from which a file is followed by the next. Default 64 MiB. */
  readonly mostBytes?: number;
}

/** The samples of one suite and kind, open for appending. */
export interface SampleLog {
  /** What was found and put right when it was opened. */
  readonly damage: readonly Damage[];
  /**
   * Appends a sample with its images, which are on the disk before its row is.
   *
   * @throws StoreError if it cannot be written; no part of the row is left in the file
   */
  append(sample: WrittenTrajectory): void;
  /** Flushes to the disk. */
  flush(): void;
  close(): void;
}

/**
 * Opens the samples of a suite. A row that a crash cut short is removed. A file with damaged rows is
 * kept aside as `<file>.damaged`, and its whole rows are written anew: their samples are not lost,
 * and the others can be drawn again.
 *
 * @throws StoreError if the files cannot be read or written
 */
export function openSampleLog(
  directory: string,
  suite: string,
  kind: SampleKind,
  { fileSystem = nodeFileSystem, mostBytes = MOST_BYTES }: SampleLogOptions = {},
): SampleLog {
  const folder = samplesOf(directory, suite);
  makeDirectories(fileSystem, folder);
  const files = listSampleFiles(fileSystem, directory, suite, kind);
  const damage = [...files.damage];
  for (const path of files.value) damage.push(...repair(fileSystem, path));
  let index = Math.max(0, files.value.length - 1 + files.damage.length);
  let log: RowLog | undefined;
  let unflushed = 0;
  const written = new Set<string>();
  const open = (): RowLog => {
    log ??= openFile(fileSystem, sampleFile(folder, kind, index));
    if (log.sizeBytes < mostBytes) return log;
    log.flush();
    log.close();
    index++;
    log = openFile(fileSystem, sampleFile(folder, kind, index));
    return log;
  };
  const flushLog = (): void => {
    if (unflushed > 0) log?.flush();
    unflushed = 0;
  };
  return {
    damage,
    append({ trajectory, tags }) {
      const images = new ImageNames();
      const json = formatTrajectoryLine(trajectory, ({ png }) => images.nameOf(png), tags);
      if (images.files.size > 0) writeImages(fileSystem, folder, images.files, written);
      open().append(json);
      unflushed++;
      if (unflushed >= ROWS_PER_FLUSH) flushLog();
    },
    flush: flushLog,
    close() {
      try {
        flushLog();
      } finally {
        log?.close();
        log = undefined;
      }
    },
  };
}

function openFile(fileSystem: FileSystem, path: string): RowLog {
  try {
    const isNew = fileSystem.status(path) === undefined;
    const file = fileSystem.open(path, 'a');
    try {
      if (isNew) flush(fileSystem, dirname(path));
      const bytes = fileSystem.readFile(path);
      const { value } = readRows(path, bytes);
      return new RowLog(fileSystem, path, file, { sizeBytes: bytes.length, link: value.lastOwn });
    } catch (error) {
      fileSystem.close(file);
      throw error;
    }
  } catch (error) {
    throw storeError(path, error);
  }
}

/** Removes a row that was cut short; replaces a file that has damaged rows by its whole ones. */
function repair(fileSystem: FileSystem, path: string): readonly Damage[] {
  try {
    const bytes = fileSystem.readFile(path);
    const whole = bytes.subarray(0, bytes.lastIndexOf(0x0a) + 1);
    const { value, damage } = readRows(path, whole);
    if (damage.length === 0 && whole.length === bytes.length) return [];
    let previous = FIRST_LINK;
    const lines = value.rows.map(({ json }) => {
      const { line, own } = sealRow(json, previous);
      previous = own;
      return `${line}\n`;
    });
    if (damage.length > 0) writeDurably(fileSystem, `${path}.damaged`, bytes);
    writeDurably(fileSystem, path, lines.join(''));
    return damage.map((one) => ({
      ...one,
      remedy: `The file is kept as ${path}.damaged; the samples that it lost are drawn again.`,
    }));
  } catch (error) {
    throw storeError(path, error);
  }
}
