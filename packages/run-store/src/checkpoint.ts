/**
 * A checkpoint is a directory with a manifest of every file's size and SHA-256, written last.
 * Without a valid manifest it does not count. Nothing is removed before its successor is on the
 * disk.
 */
import { basename, join } from 'node:path';
import { type EventSink, messageOf } from '@saccade/core';
import { flush, listTree, makeDirectories, removeTree, writeAndFlush } from './durable-files.ts';
import { type FileSystem, type FileSystemOption, nodeFileSystem } from './file-system.ts';
import { formatSealed, readSealed, sha256 } from './sealed-json.ts';
import { damageOf, describeDamage, StoreError } from './store-error.ts';

const MANIFEST = 'manifest.json';
/** Prefixes of directories that are being written, and being replaced. */
const WRITING = '.writing-';
const REPLACED = '.replaced-';
/** Prefix of a directory that is being removed: a half-removed one is not a damaged checkpoint. */
const REMOVED = '.removed-';

interface ManifestFile {
  readonly path: string;
  readonly sizeBytes: number;
  readonly sha256: string;
}

/** A checkpoint on disk whose files all match its manifest. */
export interface Checkpoint {
  readonly directory: string;
  readonly step: number;
  /** Kept whatever the retention says, e.g. the end of the cold start. */
  readonly pinned: boolean;
  /** False if its manifest is of format 1 and has no checksum of its own. */
  readonly isChecked: boolean;
}

interface Manifest extends Pick<Checkpoint, 'step' | 'pinned' | 'isChecked'> {
  readonly files: readonly ManifestFile[];
}

/** Options of `writeCheckpoint`. */
export interface WriteCheckpointOptions extends FileSystemOption {
  /** Newest unpinned checkpoints to keep. */
  readonly keep: number;
  readonly pinned?: boolean;
  /** Called when the checkpoint is on the disk, before old ones are removed. */
  readonly beforeRemoval?: (kept: readonly number[]) => void;
  /**
   * Gives back what a checkpoint has elsewhere, before its directory is removed. One that it throws for
   * is tried again with the next checkpoint.
   */
  readonly release?: (directory: string) => Promise<void>;
}

/** The folder of a run's checkpoints: `<run>/checkpoints`. */
export function checkpointsOf(directory: string): string {
  return join(directory, 'checkpoints');
}

/** Where the checkpoint of a step lies, whether it is there or not. */
export function checkpointDirectory(parent: string, step: number): string {
  return join(parent, `step-${String(step).padStart(6, '0')}`);
}

/**
 * Writes one checkpoint atomically: `fill` writes its files into a temporary directory; manifest,
 * flush and rename follow; then old ones go.
 *
 * @throws StoreError if it cannot be written; earlier checkpoints are untouched
 */
export async function writeCheckpoint(
  parent: string,
  step: number,
  fill: (directory: string) => Promise<void>,
  options: WriteCheckpointOptions,
): Promise<Checkpoint> {
  const { keep, pinned = false, fileSystem = nodeFileSystem, beforeRemoval, release } = options;
  const directory = checkpointDirectory(parent, step);
  const temporary = join(parent, `${WRITING}${basename(directory)}`);
  const drop = (name: string) => discard(fileSystem, parent, name, release);
  try {
    makeDirectories(fileSystem, parent);
    for (const name of recoverCheckpoints(fileSystem, parent)) await drop(name);
    await drop(basename(temporary));
    fileSystem.makeDirectory(temporary);
    await fill(temporary);
    const files = flushTree(fileSystem, temporary);
    const manifest = formatSealed('checkpoint', { step, pinned, files });
    writeAndFlush(fileSystem, join(temporary, MANIFEST), manifest);
    flush(fileSystem, temporary);
    const replaced = putInPlace(fileSystem, parent, temporary, directory);
    if (replaced !== undefined) await drop(replaced);
  } catch (error) {
    await drop(basename(temporary));
    const { problem } = damageOf(directory, error);
    const known = intact(fileSystem, parent).at(-1);
    const remedy =
      known === undefined
        ? 'There is no earlier checkpoint.'
        : `${basename(known)} and older ones are intact.`;
    throw new StoreError(
      {
        path: `checkpoint ${directory}`,
        problem: `it could not be written, ${problem}`,
        remedy: `${remedy} Remedy that, then continue with --resume.`,
      },
      { cause: error },
    );
  }
  const { kept, removed } = retention(fileSystem, parent, keep, step);
  beforeRemoval?.(kept);
  for (const name of removed) await drop(name);
  return { directory, step, pinned, isChecked: true };
}

/** Removes a directory that is not needed; what cannot be removed is tried again next time. */
async function discard(
  fileSystem: FileSystem,
  parent: string,
  name: string,
  release: WriteCheckpointOptions['release'],
): Promise<void> {
  try {
    if (fileSystem.status(join(parent, name)) === undefined) return;
    let doomed = name;
    if (!name.startsWith(REMOVED)) {
      doomed = freeName(fileSystem, parent, `${REMOVED}${name.replace(/^\.\w+-/, '')}`);
      fileSystem.rename(join(parent, name), join(parent, doomed));
      flush(fileSystem, parent);
    }
    await release?.(join(parent, doomed));
    removeTree(fileSystem, join(parent, doomed));
  } catch {
    // The new checkpoint is on the disk; that an old one is too does no harm.
  }
}

/** The name, or with a number where one by it could not be removed yet. */
function freeName(fileSystem: FileSystem, parent: string, name: string): string {
  for (let number = 1; ; number++) {
    const free = number === 1 ? name : `${name}-${number}`;
    if (fileSystem.status(join(parent, free)) === undefined) return free;
  }
}

/** Flushes every file and directory, and gives what the manifest says of the files. */
function flushTree(fileSystem: FileSystem, directory: string): readonly ManifestFile[] {
  return listTree(fileSystem, directory).flatMap(({ path, isDirectory }) => {
    const full = join(directory, path);
    flush(fileSystem, full);
    if (isDirectory) return [];
    const bytes = fileSystem.readFile(full);
    return [{ path, sizeBytes: bytes.length, sha256: sha256(bytes) }];
  });
}

/** Moves an old one aside, and gives its name there when the new one is durably in place. */
function putInPlace(
  fileSystem: FileSystem,
  parent: string,
  temporary: string,
  directory: string,
): string | undefined {
  const aside = join(parent, `${REPLACED}${basename(directory)}`);
  const isReplaced = fileSystem.status(directory) !== undefined;
  if (isReplaced) fileSystem.rename(directory, aside);
  try {
    fileSystem.rename(temporary, directory);
  } catch (error) {
    if (isReplaced) fileSystem.rename(aside, directory);
    throw error;
  }
  flush(fileSystem, parent);
  return isReplaced ? basename(aside) : undefined;
}

/**
 * Puts back what stepped aside where a crash came before its successor was in place; gives the names of
 * what is needed no more.
 */
function recoverCheckpoints(fileSystem: FileSystem, parent: string): readonly string[] {
  const outlived: string[] = [];
  for (const name of fileSystem.readDirectory(parent)) {
    if (!name.startsWith(REPLACED)) continue;
    const own = join(parent, name.slice(REPLACED.length));
    if (isIntact(fileSystem, own)) outlived.push(name);
    else if (fileSystem.status(own) === undefined) {
      fileSystem.rename(join(parent, name), own);
      flush(fileSystem, parent);
    }
  }
  return outlived;
}

function stepOf(name: string): number | undefined {
  const digits = /^step-(\d{6,})$/.exec(name)?.[1];
  return digits === undefined ? undefined : Number(digits);
}

/** Directories of checkpoints, oldest first, valid or not; also one that was being replaced. */
export function listCheckpoints(
  parent: string,
  { fileSystem = nodeFileSystem }: FileSystemOption = {},
): readonly string[] {
  if (fileSystem.status(parent)?.isDirectory !== true) return [];
  const names = fileSystem.readDirectory(parent);
  const nameOf = (name: string): string => name.replace(REPLACED, '');
  return names
    .filter((name) => stepOf(nameOf(name)) !== undefined)
    .sort((a, b) => Number(stepOf(nameOf(a))) - Number(stepOf(nameOf(b))) || (a < b ? -1 : 1))
    .map((name) => join(parent, name));
}

function intact(fileSystem: FileSystem, parent: string): readonly string[] {
  try {
    return listCheckpoints(parent, { fileSystem }).filter((one) => isIntact(fileSystem, one));
  } catch {
    return [];
  }
}

/** Whether the manifest is whole and every file there with its size; contents are not read. */
function isIntact(fileSystem: FileSystem, directory: string): boolean {
  try {
    const { files } = readManifestOf(fileSystem, directory);
    return files.every(
      ({ path, sizeBytes }) => fileSystem.status(join(directory, path))?.sizeBytes === sizeBytes,
    );
  } catch {
    return false;
  }
}

const REMEDY = 'Restore it from a copy, or continue from another checkpoint.';

function readManifestOf(fileSystem: FileSystem, directory: string): Manifest {
  const path = join(directory, MANIFEST);
  const { value, damage } = readSealed(fileSystem, path, 'checkpoint', REMEDY);
  const [first] = damage;
  if (value === undefined) {
    throw new StoreError(first ?? { path, problem: 'it is missing', remedy: REMEDY });
  }
  const { step, pinned, files } = value.fields;
  const isManifest =
    typeof step === 'number' && typeof pinned === 'boolean' && Array.isArray(files);
  if (!isManifest || !files.every(isManifestFile)) {
    throw new StoreError({ path, problem: 'it is no manifest of a checkpoint', remedy: REMEDY });
  }
  const named = stepOf(basename(directory).replace(REPLACED, ''));
  if (named !== undefined && named !== step) {
    const problem = `it says step ${step}, and its directory is called ${basename(directory)}`;
    throw new StoreError({ path, problem, remedy: REMEDY });
  }
  return { step, pinned, files, isChecked: value.isChecked };
}

function isManifestFile(value: unknown): value is ManifestFile {
  const { path, sizeBytes, sha256: digest } = (value ?? {}) as Partial<ManifestFile>;
  if (typeof path !== 'string' || typeof sizeBytes !== 'number') return false;
  return typeof digest === 'string' && !path.startsWith('/') && !path.split('/').includes('..');
}

/**
 * Checks every file of a checkpoint against its manifest.
 *
 * @throws StoreError naming the first file that is missing or differs
 */
export function verifyCheckpoint(
  directory: string,
  { fileSystem = nodeFileSystem }: FileSystemOption = {},
): Checkpoint {
  const { files, ...manifest } = readManifestOf(fileSystem, directory);
  for (const { path, sizeBytes, sha256: digest } of files) {
    const full = join(directory, path);
    const differs = (problem: string): StoreError =>
      new StoreError({ path: full, problem, remedy: REMEDY });
    let bytes: Buffer;
    try {
      bytes = fileSystem.readFile(full);
    } catch (error) {
      throw differs(damageOf(full, error).problem);
    }
    if (bytes.length !== sizeBytes) {
      throw differs(`it has ${bytes.length} bytes, its manifest says ${sizeBytes}`);
    }
    if (sha256(bytes) !== digest) throw differs('it does not have the SHA-256 of its manifest');
  }
  return { directory, ...manifest };
}

/** The newest valid checkpoint; a damaged one is passed over with a warning that names the file. */
export function findLatestCheckpoint(
  parent: string,
  onEvent: EventSink,
  { fileSystem = nodeFileSystem }: FileSystemOption = {},
): Checkpoint | undefined {
  for (const directory of [...listCheckpoints(parent, { fileSystem })].reverse()) {
    try {
      return verifyCheckpoint(directory, { fileSystem });
    } catch (error) {
      const what = error instanceof StoreError ? describeDamage(error) : messageOf(error);
      const message = `checkpoint ${basename(directory)} is damaged: ${what} Trying the one before it.`;
      onEvent({ kind: 'warning', message });
    }
  }
  return undefined;
}

/**
 * Decides which checkpoints stay. Only whole ones count toward `keep`; a damaged one is removed
 * once there is a whole one of a later step. Those later than the one just written are ignored:
 * their steps are done again.
 */
function retention(
  fileSystem: FileSystem,
  parent: string,
  keep: number,
  written: number,
): { readonly kept: readonly number[]; readonly removed: readonly string[] } {
  const removed = fileSystem
    .readDirectory(parent)
    .filter((name) => name.startsWith(WRITING) || name.startsWith(REMOVED));
  const kept: number[] = [];
  let unpinned = 0;
  for (const directory of [...listCheckpoints(parent, { fileSystem })].reverse()) {
    const name = basename(directory);
    const step = stepOf(name);
    if (step === undefined || step > written) continue;
    const manifest = isIntact(fileSystem, directory)
      ? readManifestOf(fileSystem, directory)
      : undefined;
    if (manifest?.pinned === true || (manifest !== undefined && unpinned++ < Math.max(1, keep))) {
      kept.push(step);
    } else removed.push(name);
  }
  return { kept: kept.reverse(), removed };
}
