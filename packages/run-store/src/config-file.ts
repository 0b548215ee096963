/** `config.json`: the configuration of a run, opaque to the store, and where its parts came from. */
import { join } from 'node:path';
import { writeDurably } from './durable-files.ts';
import { type FileSystemOption, nodeFileSystem } from './file-system.ts';
import { hasManifest, updateManifest } from './manifest.ts';
import { formatSealed, readSealed, refuseUnsealed, sha256 } from './sealed-json.ts';
import { needed, type Read } from './store-error.ts';

/** Where a unit came from that no catalog has, by the slot it fills. */
export type Sources = Readonly<Record<string, string>>;

/** The content of a run's `config.json`. */
export interface StoredConfig {
  /** JSON; what it means is up to the program that wrote it. */
  readonly config: unknown;
  /** Files or packages of the units that came from outside, by slot; empty if none did. */
  readonly sources: Sources;
  /** False for a run of format 1. */
  readonly isChecked: boolean;
}

const REMEDY = 'Restore it from a copy; without it the run can be neither resumed nor replayed.';

/**
 * Writes the configuration of a run. The same configuration gives the same bytes.
 *
 * @throws StoreError if it cannot be written
 */
export function writeConfig(
  directory: string,
  config: unknown,
  { sources = {}, fileSystem = nodeFileSystem }: FileSystemOption & { sources?: Sources } = {},
): void {
  const text = formatSealed('config', { sources, config });
  writeDurably(fileSystem, join(directory, 'config.json'), text);
  const entry = { sizeBytes: Buffer.byteLength(text), sha256: sha256(text) };
  updateManifest(fileSystem, directory, (before) => ({ ...before, config: entry }));
}

/** The configuration, or what is wrong with it. */
export function inspectConfig(
  directory: string,
  { fileSystem = nodeFileSystem }: FileSystemOption = {},
): Read<StoredConfig | undefined> {
  const path = join(directory, 'config.json');
  const read = readSealed(fileSystem, path, 'config', REMEDY);
  const isSealedRun = hasManifest(fileSystem, directory);
  const { value, damage } = refuseUnsealed(path, read, isSealedRun, REMEDY);
  if (value === undefined) return { value, damage };
  const { fields, isChecked } = value;
  if (!isChecked) return { value: { config: fields, sources: {}, isChecked }, damage };
  const { sources, config } = fields as { sources: Sources; config: unknown };
  return { value: { config, sources: sources ?? {}, isChecked }, damage };
}

/**
 * The configuration a run was started with, as it was given to `writeConfig`.
 *
 * @throws StoreError if it is missing or damaged
 */
export function readConfig(directory: string, options: FileSystemOption = {}): StoredConfig {
  return needed(inspectConfig(directory, options));
}
