/**
 * `manifest.json` of a run directory lists what is durably on the disk, so that a missing or
 * truncated file is noticed. It is written after the files that it lists, and before files that it
 * no longer lists are removed: a crash in between leaves more on the disk than it lists, never
 * less.
 */
import { join } from 'node:path';
import { writeDurably } from './durable-files.ts';
import type { FileSystem } from './file-system.ts';
import { formatSealed, readSealed } from './sealed-json.ts';
import type { Read } from './store-error.ts';

/** Size in bytes and SHA-256 (hex) of a file. */
export interface ManifestEntry {
  readonly sizeBytes: number;
  readonly sha256: string;
}

/** The parts of a run that are durably on disk. */
export interface RunManifest {
  /** Digest of `config.json`. */
  readonly config?: ManifestEntry;
  /** Bytes of `metrics.jsonl` at the newest checkpoint. */
  readonly metricsBytes: number;
  /** Files of `trajectories/` by name without `.jsonl`. */
  readonly trajectories: Readonly<Record<string, ManifestEntry>>;
  /** Steps of the checkpoints that are kept. */
  readonly checkpoints: readonly number[];
}

const EMPTY: RunManifest = { metricsBytes: 0, trajectories: {}, checkpoints: [] };

function manifestOf(directory: string): string {
  return join(directory, 'manifest.json');
}

/** Whether a run is of format 2: its documents are sealed. */
export function hasManifest(fileSystem: FileSystem, directory: string): boolean {
  try {
    return fileSystem.status(manifestOf(directory)) !== undefined;
  } catch {
    return true;
  }
}

/** The manifest. Undefined, without damage, for a run of format 1 or one that has just started. */
export function readManifest(
  fileSystem: FileSystem,
  directory: string,
): Read<RunManifest | undefined> {
  const path = manifestOf(directory);
  const remedy = 'Files that are missing can no longer be told; the others are still checked.';
  try {
    if (fileSystem.status(path) === undefined) return { value: undefined, damage: [] };
  } catch {
    // Reading it says what is wrong.
  }
  const { value, damage } = readSealed(fileSystem, path, 'manifest', remedy);
  if (value === undefined) return { value: undefined, damage };
  if (!value.isChecked) {
    const problem = 'its checksum is missing, so it was changed after it was written';
    return { value: undefined, damage: [{ path, problem, remedy }] };
  }
  return { value: { ...EMPTY, ...(value.fields as Partial<RunManifest>) }, damage };
}

/**
 * Replaces the manifest. A damaged one is replaced by an empty one: readers have reported it by
 * then.
 *
 * @throws StoreError if it cannot be written; the old one stands
 */
export function updateManifest(
  fileSystem: FileSystem,
  directory: string,
  change: (before: RunManifest) => RunManifest,
): void {
  const before = readManifest(fileSystem, directory).value ?? EMPTY;
  const after = change(before);
  const text = formatSealed('manifest', { ...after });
  if (text !== formatSealed('manifest', { ...before }) || before === EMPTY) {
    writeDurably(fileSystem, manifestOf(directory), text);
  }
}
