/** From a path or a hub to the tables of a data set's splits. */
import { ConfigError, DataError } from '@saccade/core';
import { readSettings } from '@saccade/core/settings';
import { fetchDataset, type Hub, parseSource } from '@saccade/hub';
import { stat } from 'node:fs/promises';
import { basename, resolve } from 'node:path';
import { type Card, readCard } from '../card/read-card.ts';
import {
  checkShards,
  type DataFile,
  type FileSplit,
  listFiles,
  rootOf,
  selectFiles,
  splitOf,
} from '../files/data-files.ts';
import { matchesAny } from '../files/glob.ts';
import type { Reader } from '../reader.ts';
import { readers } from '../reader-registry.ts';
import { openAll, type Table } from '../table.ts';
import type { SourceSettings } from './source-settings.ts';

/** The tables of a data set. A split without files of its own is absent. */
export interface DataTables {
  readonly root: string;
  /** Name of the format. */
  readonly format: string;
  readonly card?: Card;
  readonly train?: Table;
  readonly heldOut?: Table;
  /** Size of all files that are read. */
  readonly sizeBytes: number;
  /** Name and size of each. */
  readonly files: readonly { readonly name: string; readonly sizeBytes: number }[];
  dispose(): Promise<void>;
}

type Wanted = Pick<
  SourceSettings,
  'from' | 'format' | 'records' | 'trainFiles' | 'heldOutFiles' | 'maxRowBytes'
>;

const FIELD = 'taskSet.from';

/**
 * Finds the files of a source, downloads them where a hub has them, and opens them.
 *
 * @throws MissingError  if there is no such path, or the hub cannot be reached
 * @throws ConfigError   for a format or a hub that is not known
 * @throws DataError     if there is no file that a reader takes, or one is not whole
 */
export async function openTables(wanted: Wanted, hub?: Hub): Promise<DataTables> {
  const { root, files } = await filesOf(wanted, hub);
  const { reader, claimed } = claim(wanted, files);
  checkShards(claimed);
  const { train, heldOut } = divide(wanted, claimed);
  if (train.length + heldOut.length === 0) {
    throw new DataError(
      `${wanted.from} has no file that the patterns name. It has ${someNames(claimed)}. Write ` +
        'patterns of these in trainFiles or heldOutFiles.',
    );
  }
  const known = Object.entries(wanted).filter(([key]) => key in reader.settings.shape);
  const settings = readSettings('taskSet', reader.settings, Object.fromEntries(known));
  const open = (some: readonly DataFile[]) => async () =>
    await reader.open(settings, { files: some, root, maxRowBytes: wanted.maxRowBytes });
  const splits = [train, heldOut].filter((some) => some.length > 0);
  const tables = await openAll(splits.map(open));
  const sizes = await Promise.all([...train, ...heldOut].map(({ path }) => sizeOf(path)));
  const card = await readCard(root);
  const [first, second] = tables;
  return {
    root,
    format: reader.name,
    ...(card && { card }),
    ...(train.length > 0 && first && { train: first }),
    ...(heldOut.length > 0 && { heldOut: (train.length > 0 ? second : first) as Table }),
    sizeBytes: sizes.reduce((sum, size) => sum + size, 0),
    files: [...train, ...heldOut].map(({ name }, i) => ({ name, sizeBytes: sizes[i] ?? 0 })),
    async dispose() {
      for (const table of tables) await table.dispose();
    },
  };
}

const sizeOf = async (path: string): Promise<number> => (await stat(path)).size;

async function filesOf(
  wanted: Wanted,
  hub: Hub | undefined,
): Promise<{ readonly root: string; readonly files: readonly DataFile[] }> {
  const source = parseSource(wanted.from, FIELD);
  if (source.kind === 'path') {
    const root = await rootOf(source.path);
    const path = resolve(source.path);
    if (path === root) return { root, files: await listFiles(root) };
    return { root, files: [{ path, name: basename(path) }] };
  }
  if (hub === undefined) {
    throw new ConfigError(
      FIELD,
      `${FIELD}: there is no hub to take ${wanted.from} from. Give a path, or pass a hub.`,
    );
  }
  const root = await fetchDataset(hub, source, { choose: (names) => choose(wanted, names) });
  return { root, files: await listFiles(root) };
}

/** Of the files of a hub those that are read, and those that rows may name. */
function choose(wanted: Wanted, names: readonly string[]): readonly string[] {
  const files = names.map((name) => ({ path: name, name }));
  const { reader, claimed } = claim(wanted, files);
  const { train, heldOut } = divide(wanted, claimed);
  const read = [...train, ...heldOut].map(({ name }) => name);
  if (!reader.namesFiles) return read;
  const others = new Set(claimed.map(({ name }) => name));
  return [...read, ...names.filter((name) => !others.has(name) && !/(^|\/)\./.test(name))];
}

function claim(
  { from, format }: Wanted,
  files: readonly DataFile[],
): { readonly reader: Reader; readonly claimed: readonly DataFile[] } {
  const names = files.map(({ name }) => name);
  const candidates =
    format === 'auto'
      ? readers
          .entries()
          .map(([, reader]) => reader)
          .sort((a, b) => a.rank - b.rank)
      : [readers.get(format)];
  for (const reader of candidates) {
    const claimed = new Set(reader.claims(names));
    if (claimed.size === 0) continue;
    return { reader, claimed: files.filter(({ name }) => claimed.has(name)) };
  }
  const wanted = format === 'auto' ? `a reader takes (${readers.names.join(', ')})` : `${format} takes`;
  throw new DataError(`${from} has no file that ${wanted}. It has ${someNames(files)}.`);
}

/** The files of each split: by patterns, else by their names; files without a split train. */
function divide(
  { trainFiles, heldOutFiles }: Wanted,
  files: readonly DataFile[],
): { readonly train: readonly DataFile[]; readonly heldOut: readonly DataFile[] } {
  const of = (split: FileSplit | undefined) => files.filter(({ name }) => splitOf(name) === split);
  const isHeldOut = ({ name }: DataFile): boolean => matchesAny(heldOutFiles, name);
  if (trainFiles.length > 0 || heldOutFiles.length > 0) {
    const heldOut = heldOutFiles.length > 0 ? files.filter(isHeldOut) : [];
    const rest = files.filter((file) => !heldOut.includes(file));
    const named = trainFiles.length > 0 ? selectFiles(rest, trainFiles) : trainOf(rest);
    return { train: named, heldOut };
  }
  const [validation, test] = [of('validation'), of('test')];
  return { train: trainOf(files), heldOut: validation.length > 0 ? validation : test };
}

function trainOf(files: readonly DataFile[]): readonly DataFile[] {
  const named = files.filter(({ name }) => splitOf(name) === 'train');
  return named.length > 0 ? named : files.filter(({ name }) => splitOf(name) === undefined);
}

function someNames(files: readonly DataFile[]): string {
  const names = files.slice(0, 5).map(({ name }) => name);
  return `${names.join(', ') || 'none'}${files.length > names.length ? ', …' : ''}`;
}
