/** A source of tasks: the rows of a data set's splits, mapped. */
import { DataError, type EventSink, hashString } from '@saccade/core';
import type { Split, Task } from '@saccade/gym';
import type { Hub } from '@saccade/hub';
import { Permutation, RowOrder } from '../mixture/permutation.ts';
import { RowSet } from '../mixture/row-set.ts';
import type { Row, Table } from '../table.ts';
import { CorruptRows } from './corrupt-rows.ts';
import { findMapping, type NamedMapping } from './find-mapping.ts';
import { type DataTables, openTables } from './open-files.ts';
import { bytesOfRows, RowCache } from './row-cache.ts';
import type { SourceSettings } from './source-settings.ts';

/** Rows that the mapping is checked against. */
const CHECKED = 32;
/** Blocks whose rows are mixed with each other, at most. */
const MOST_BLOCKS = 64;
/** Held-out rows come in at least so many blocks, so that they are of all parts of the data. */
const HELD_OUT_BLOCKS = 16;

/** What opening a source needs. */
export interface SourceContext {
  readonly hub?: Hub;
  readonly onEvent?: EventSink;
}

/** The rows of one split. */
interface SplitRows {
  readonly table: Table;
  readonly cache: RowCache;
  /** Blocks whose rows are mixed with each other. */
  readonly windowBlocks: number;
  /** The rows of the table that it has; undefined: all. */
  readonly set: RowSet | undefined;
  readonly count: number;
}

/** An opened source. Rows of a split are numbered from 0; `task` is pure in its arguments. */
export class DataSource {
  readonly name: string;
  readonly settings: SourceSettings;
  readonly tables: DataTables;
  readonly mapping: NamedMapping;
  readonly corrupt: CorruptRows;
  #splits: Readonly<Partial<Record<Split, SplitRows>>>;

  private constructor(
    name: string,
    settings: SourceSettings,
    tables: DataTables,
    mapping: NamedMapping,
    splits: Readonly<Partial<Record<Split, SplitRows>>>,
    onEvent: EventSink | undefined,
  ) {
    this.name = name;
    this.settings = settings;
    this.tables = tables;
    this.mapping = mapping;
    this.#splits = splits;
    const rows = (tables.train?.rowCount ?? 0) + (tables.heldOut?.rowCount ?? 0);
    this.corrupt = new CorruptRows(name, rows, settings.maxCorruptShare, onEvent);
  }

  /**
   * Opens a source, and checks its mapping against the first rows.
   *
   * @throws MissingError, ConfigError or DataError as `openTables` and the mapping do
   */
  static async open(settings: SourceSettings, context: SourceContext = {}): Promise<DataSource> {
    const tables = await openTables(settings, context.hub);
    try {
      const table = tables.train ?? (tables.heldOut as Table);
      const mapping = await findMapping(settings.mapping, settings.from, table.columns);
      if (table.rowCount === 0) throw new DataError(`${settings.from} has no rows.`);
      const first = await table.read(0, Math.min(CHECKED, table.rowCount));
      mapping.mapping.check(mapping.name, table.columns, first);
      const rowBytes = bytesOfRows(first) / first.length;
      const splits = await splitsOf(settings, tables, mapping, rowBytes);
      const name = settings.source ?? mapping.name;
      return new DataSource(name, settings, tables, mapping, splits, context.onEvent);
    } catch (error) {
      await tables.dispose();
      throw error;
    }
  }

  size(split: Split): number {
    return this.#splits[split]?.count ?? 0;
  }

  /** The rows of a split in an order of its own: shuffled, as far as the settings say. */
  order(split: Split, seed: number, pass: number): { at(place: number): number } {
    const rows = this.#splits[split];
    if (rows === undefined || this.settings.shuffleBytes === 0) return { at: (place) => place };
    const { table, windowBlocks, count: rowCount } = rows;
    const options = { rowCount, blockRows: table.blockRows, windowBlocks };
    return new RowOrder(options, seed, this.name, split, pass);
  }

  /** The row of the table that a number of a split stands for. */
  rowOf(split: Split, number: number): number {
    const { set } = this.#rows(split);
    return set === undefined ? number : set.at(number);
  }

  /** The row itself, as the format has it. */
  async row(split: Split, number: number): Promise<Row> {
    return await this.#rows(split).cache.row(this.rowOf(split, number));
  }

  /** Leaves rows out of the training split: those of which `isLeftOut` is true. */
  leaveOut(isLeftOut: (number: number) => boolean): number {
    const { train } = this.#splits;
    if (train === undefined) return 0;
    const set = new RowSet(train.table.rowCount);
    let left = 0;
    for (let number = 0; number < train.count; number++) {
      if (isLeftOut(number)) left++;
      else set.add(this.rowOf('train', number));
    }
    this.#splits = { ...this.#splits, train: { ...train, set, count: train.count - left } };
    return left;
  }

  /**
   * The task of a row. Where the row is corrupt, it is counted, and the next that is not takes its
   * place, under the id of the corrupt one.
   *
   * @param draw  number of the pass, which draws one of several questions of a row
   * @throws DataError if more rows are corrupt than may be
   */
  async task(split: Split, number: number, draw = 0): Promise<Task> {
    const { count } = this.#rows(split);
    for (let tried = 0; tried < count; tried++) {
      const at = (number + tried) % count;
      const found = await this.mapped(split, at, draw);
      if (typeof found !== 'string') return { ...found, id: this.#id(split, number) };
    }
    throw new DataError(`${this.name} has no row in ${split} that can be used.`);
  }

  /** The task of a row alone, or what is wrong with the row, which is counted. */
  async mapped(split: Split, number: number, draw = 0): Promise<Task | string> {
    const row = await this.row(split, number);
    let problem = row.problem;
    if (row.fields !== undefined) {
      try {
        return await this.#map(split, number, row, draw);
      } catch (error) {
        if (!(error instanceof DataError)) throw error;
        problem = error.message;
      }
    }
    this.corrupt.add(row.address, problem ?? '');
    return problem ?? '';
  }

  async #map(
    split: Split,
    number: number,
    { address, fields }: Extract<Row, { problem?: undefined }>,
    pass: number,
  ): Promise<Task> {
    const { maxPixels, maxRowBytes } = this.settings;
    const draw = pass + hashString(address);
    const context = { maxPixels, maxRowBytes, draw, root: this.tables.root };
    const mapped = await this.mapping.mapping.map(fields, context);
    return {
      id: this.#id(split, number),
      question: mapped.question,
      images: mapped.images.map((image, i) => ({ name: `image_clue_${i}`, ...image })),
      ...(mapped.videos.length > 0 && {
        videos: mapped.videos.map((video, i) => ({ name: `video_clue_${i}`, ...video })),
      }),
      answer: mapped.answer,
      metadata: { ...mapped.metadata, source: this.name, row: address },
    };
  }

  #id(split: Split, number: number): string {
    return `${this.name}-${split}-${String(this.rowOf(split, number)).padStart(6, '0')}`;
  }

  #rows(split: Split): SplitRows {
    const rows = this.#splits[split];
    if (rows !== undefined) return rows;
    throw new DataError(`${this.name} has no rows in ${split}.`);
  }

  async dispose(): Promise<void> {
    await this.tables.dispose();
  }
}

async function splitsOf(
  settings: SourceSettings,
  { train, heldOut }: DataTables,
  { mapping }: NamedMapping,
  rowBytes: number,
): Promise<Readonly<Partial<Record<Split, SplitRows>>>> {
  const all = (table: Table): SplitRows => {
    const blocks = Math.floor(settings.shuffleBytes / Math.max(1, rowBytes) / table.blockRows);
    const windowBlocks = Math.min(MOST_BLOCKS, Math.max(1, blocks));
    // Where rows are held out, a block of those that are left lies in two of the table, at times in three.
    const cache = new RowCache(table, 3 * windowBlocks);
    return { table, cache, windowBlocks, set: undefined, count: table.rowCount };
  };
  const held = heldOut && all(heldOut);
  if (train === undefined) return held ? { heldOut: held } : {};
  const whole = all(train);
  const chosen = mapping.splitOf && (await bySplitColumn(train, mapping.splitOf));
  const apart = chosen ?? (heldOut ? undefined : byShare(train, settings.heldOutShare));
  if (apart === undefined) {
    return { train: capped(whole, settings.cap), ...(held && { heldOut: held }) };
  }
  const rest = new RowSet(train.rowCount);
  for (let row = 0; row < train.rowCount; row++) if (!apart.has(row)) rest.add(row);
  const of = (set: RowSet): SplitRows => ({ ...whole, set, count: set.count });
  return { train: capped(of(rest), settings.cap), heldOut: held ?? of(apart) };
}

/** Rows whose own split is not that of training. */
async function bySplitColumn(
  table: Table,
  splitOf: (fields: Readonly<Record<string, unknown>>) => string | undefined,
): Promise<RowSet> {
  const apart = new RowSet(table.rowCount);
  for (let start = 0; start < table.rowCount; start += table.blockRows) {
    const rows = await table.read(start, start + table.blockRows);
    rows.forEach(({ fields }, i) => {
      if (fields !== undefined && splitOf(fields) !== 'train') apart.add(start + i);
    });
  }
  return apart;
}

/** Whole blocks of neighbors: questions of one image often follow each other. */
function byShare({ rowCount, blockRows }: Table, share: number): RowSet | undefined {
  // A single row is for training, unless all are held out.
  if (share === 0 || rowCount === 0 || (rowCount === 1 && share < 1)) return undefined;
  const wanted = Math.max(1, Math.round(share * rowCount));
  const size = Math.max(1, Math.min(blockRows, Math.floor(wanted / HELD_OUT_BLOCKS)));
  const blocks = new Permutation(Math.ceil(rowCount / size), 0, 'held-out');
  const apart = new RowSet(rowCount);
  let count = 0;
  for (let i = 0; count < wanted && i < blocks.size; i++) {
    const first = blocks.at(i) * size;
    for (let row = first; row < Math.min(rowCount, first + size) && count < wanted; row++) {
      apart.add(row);
      count++;
    }
  }
  return apart;
}

/** The most rows that are used, of all parts of the data, in blocks that are read together. */
function capped(rows: SplitRows, cap: number): SplitRows {
  if (cap === 0 || cap >= rows.count) return rows;
  const size = Math.max(1, Math.min(rows.table.blockRows, Math.floor(cap / HELD_OUT_BLOCKS)));
  const options = { rowCount: rows.count, blockRows: size, windowBlocks: 1 };
  const order = new RowOrder(options, 0, 'cap');
  const set = new RowSet(rows.table.rowCount);
  for (let i = 0; i < cap; i++) {
    const number = order.at(i);
    set.add(rows.set === undefined ? number : rows.set.at(number));
  }
  return { ...rows, set, count: cap };
}
