/**
 * Checkpoints: a directory with a manifest of every file's size and SHA-256, written last. It has
 * a valid manifest or it does not count; a crash at any moment leaves the earlier ones as they were.
 */
import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { DataError, type EventSink, messageOf } from '@saccade/core';
import { flush, listFiles } from './durable-files.ts';

const MANIFEST = 'manifest.json';
const FORMAT = 1;

interface ManifestFile {
  readonly path: string;
  readonly sizeBytes: number;
  readonly sha256: string;
}

interface Manifest {
  readonly format: number;
  readonly step: number;
  /** Kept whatever the retention says, e.g. the end of the cold start. */
  readonly pinned: boolean;
  readonly files: readonly ManifestFile[];
}

/** A checkpoint on disk whose every file is as its manifest says. */
export interface Checkpoint {
  readonly directory: string;
  readonly step: number;
  readonly pinned: boolean;
}

export interface WriteCheckpointOptions {
  /** Newest unpinned checkpoints to keep. */
  readonly keep: number;
  readonly pinned?: boolean;
}

/** Where the checkpoint of a step lies, whether it is there or not. */
export function checkpointDirectory(parent: string, step: number): string {
  return join(parent, directoryName(step));
}

function directoryName(step: number): string {
  return `step-${String(step).padStart(6, '0')}`;
}

function sha256(path: string): string {
  return createHash('sha256').update(readFileSync(path)).digest('hex');
}

function isFull(error: unknown): boolean {
  const { code } = (error ?? {}) as { code?: unknown };
  return code === 'ENOSPC' || code === 'EDQUOT' || messageOf(error).includes('ENOSPC');
}

/**
 * Writes one checkpoint atomically: `fill` writes its files into a temporary directory; manifest,
 * flush and rename follow; then old ones go.
 *
 * @throws DataError if it cannot be written; earlier checkpoints are untouched
 */
export async function writeCheckpoint(
  parent: string,
  step: number,
  fill: (directory: string) => Promise<void>,
  { keep, pinned = false }: WriteCheckpointOptions,
): Promise<Checkpoint> {
  const directory = join(parent, directoryName(step));
  const temporary = join(parent, `.writing-${directoryName(step)}`);
  try {
    rmSync(temporary, { recursive: true, force: true });
    mkdirSync(temporary, { recursive: true });
    await fill(temporary);
    const files = listFiles(temporary).map((path) => {
      const full = join(temporary, path);
      flush(full);
      return { path, sizeBytes: statSync(full).size, sha256: sha256(full) };
    });
    const manifest: Manifest = { format: FORMAT, step, pinned, files };
    writeFileSync(join(temporary, MANIFEST), `${JSON.stringify(manifest, null, 2)}\n`);
    flush(join(temporary, MANIFEST));
    flush(temporary);
    rmSync(directory, { recursive: true, force: true });
    renameSync(temporary, directory);
    flush(parent);
  } catch (error) {
    rmSync(temporary, { recursive: true, force: true });
    const fact = isFull(error) ? 'the disk is full' : messageOf(error);
    const known = listNames(parent).at(-1);
    const remedy =
      known === undefined
        ? 'There is no earlier checkpoint.'
        : `${known} and older ones are intact.`;
    throw new DataError(
      `checkpoint ${directory}: could not be written, ${fact}. ${remedy} ` +
        'Free some space, then go on with --resume.',
      { cause: error },
    );
  }
  prune(parent, keep);
  return { directory, step, pinned };
}

/** Names of the checkpoint directories, oldest first, valid or not. */
function listNames(parent: string): string[] {
  if (!existsSync(parent)) return [];
  return readdirSync(parent)
    .filter((entry) => /^step-\d{6,}$/.test(entry))
    .sort((a, b) => Number(a.slice(5)) - Number(b.slice(5)));
}

function readManifest(directory: string): Manifest {
  const path = join(directory, MANIFEST);
  if (!existsSync(path)) throw new DataError(`${path} is missing`);
  try {
    const manifest = JSON.parse(readFileSync(path, 'utf8')) as Manifest;
    if (manifest.format === FORMAT && Array.isArray(manifest.files)) return manifest;
  } catch (error) {
    throw new DataError(`${path} is not JSON (${messageOf(error)})`);
  }
  throw new DataError(`${path} is not a manifest of format ${FORMAT}`);
}

/**
 * Checks every file of a checkpoint against its manifest.
 *
 * @throws DataError naming the first file that is missing or differs
 */
export function verifyCheckpoint(directory: string): Checkpoint {
  const manifest = readManifest(directory);
  for (const file of manifest.files) {
    const path = join(directory, file.path);
    if (!existsSync(path)) throw new DataError(`${path} is missing`);
    const sizeBytes = statSync(path).size;
    if (sizeBytes !== file.sizeBytes) {
      throw new DataError(`${path} has ${sizeBytes} bytes, its manifest says ${file.sizeBytes}`);
    }
    if (sha256(path) !== file.sha256) {
      throw new DataError(`${path} does not have the SHA-256 of its manifest`);
    }
  }
  return { directory, step: manifest.step, pinned: manifest.pinned };
}

/** The newest valid checkpoint; a damaged one is passed over with a warning that names the file. */
export function findLatestCheckpoint(parent: string, onEvent: EventSink): Checkpoint | undefined {
  for (const name of listNames(parent).reverse()) {
    try {
      return verifyCheckpoint(join(parent, name));
    } catch (error) {
      onEvent({
        kind: 'warning',
        message: `checkpoint ${name} is damaged: ${messageOf(error)}. Trying the one before it.`,
      });
    }
  }
  return undefined;
}

/** Removes all but the newest `keep` unpinned checkpoints, and what a crash left half-written. */
function prune(parent: string, keep: number): void {
  for (const entry of readdirSync(parent)) {
    if (entry.startsWith('.writing-')) rmSync(join(parent, entry), { recursive: true });
  }
  const unpinned = listNames(parent).filter((name) => {
    try {
      return !readManifest(join(parent, name)).pinned;
    } catch {
      return true;
    }
  });
  for (const name of unpinned.slice(0, Math.max(0, unpinned.length - keep))) {
    rmSync(join(parent, name), { recursive: true });
  }
}

/** Removes checkpoints later than `step`: a resumed run writes them again. */
export function dropCheckpointsAfter(parent: string, step: number): void {
  for (const name of listNames(parent)) {
    if (Number(name.slice(5)) > step) rmSync(join(parent, name), { recursive: true });
  }
}
