/**
 * Members of a tar file by their places, so that one is read without those before it. Libraries for
 * tar read streams from their beginning; this follows headers (POSIX ustar, GNU and pax names).
 */
import { DataError } from '@saccade/core';
import type { ByteFile } from './byte-file.ts';

const BLOCK = 512;
/** Bytes of a long name or of pax records. */
const LONGEST_NAME = 2 ** 20;
/** Headers are read in steps of this many bytes: members are often small. */
const WINDOW = 2 ** 16;

/** One member of an archive. */
export interface TarMember {
  readonly name: string;
  readonly kind: 'file' | 'folder' | 'other';
  /** Where its headers begin, and where its bytes do. */
  readonly place: number;
  readonly start: number;
  readonly size: number;
  /** Where the next header begins. */
  readonly next: number;
}

/** A place without a valid header. */
export interface TarDamage {
  readonly problem: string;
  readonly place: number;
  /** Where the next valid header is, or the end of the file. */
  readonly next: number;
}

/** The members from a place on; damage is told, and skipped up to the next valid header. */
export async function* tarMembers(
  file: ByteFile,
  place: number,
): AsyncGenerator<TarMember | TarDamage> {
  const blocks = new Blocks(file);
  let at = place;
  while (at + BLOCK <= file.size) {
    const found = await memberAt(blocks, at);
    if (found === undefined) return;
    yield found;
    at = found.next;
  }
  if (at < file.size) yield { problem: 'the archive ends within a header', place: at, next: file.size };
}

/** Blocks of a file, read ahead. */
class Blocks {
  readonly file: ByteFile;
  #start = 0;
  #bytes: Buffer = Buffer.alloc(0);

  constructor(file: ByteFile) {
    this.file = file;
  }

  async at(place: number, size = BLOCK): Promise<Buffer> {
    if (place < this.#start || place + size > this.#start + this.#bytes.length) {
      this.#start = place;
      this.#bytes = await this.file.read(place, place + Math.max(WINDOW, size));
    }
    return this.#bytes.subarray(place - this.#start, place - this.#start + size);
  }
}

/** The member whose first header is at a place; undefined at the end of the archive. */
async function memberAt(blocks: Blocks, place: number): Promise<TarMember | TarDamage | undefined> {
  let at = place;
  let name: string | undefined;
  let size: number | undefined;
  for (;;) {
    if (at + BLOCK > blocks.file.size) {
      return { problem: 'the archive ends within a header', place, next: blocks.file.size };
    }
    const header = await blocks.at(at);
    if (header.every((byte) => byte === 0)) return await afterZeros(blocks, place, at);
    const own = headerSize(header);
    if (own === undefined) return await damage(blocks, place, at, 'a header has a wrong checksum');
    const type = String.fromCharCode(header[156] ?? 0);
    const next = at + BLOCK + Math.ceil(own / BLOCK) * BLOCK;
    if (type === 'L' || type === 'K' || type === 'x' || type === 'g') {
      if (own > LONGEST_NAME || next > blocks.file.size) {
        return await damage(blocks, place, at, `a name of ${own} bytes`);
      }
      const bytes = Buffer.from(await blocks.at(at + BLOCK, own));
      if (type === 'L') name = textOf(bytes);
      if (type === 'x') {
        const records = paxRecords(bytes);
        name = records.get('path') ?? name;
        const given = Number(records.get('size'));
        if (records.has('size') && Number.isSafeInteger(given) && given >= 0) size = given;
      }
      at = next;
      continue;
    }
    const length = size ?? own;
    const kind = kindOf(type);
    return {
      name: name ?? headerName(header),
      kind,
      place,
      start: at + BLOCK,
      size: kind === 'file' ? length : 0,
      next: at + BLOCK + (kind === 'file' ? Math.ceil(length / BLOCK) * BLOCK : 0),
    };
  }
}

const kindOf = (type: string): TarMember['kind'] =>
  type === '0' || type === '\0' || type === '7' ? 'file' : type === '5' ? 'folder' : 'other';

/** Archives that are joined have zeros between them; at the end there is nothing more. */
async function afterZeros(blocks: Blocks, place: number, at: number): Promise<undefined | TarDamage> {
  const second = at + BLOCK;
  if (second + BLOCK > blocks.file.size) return undefined;
  const next = await blocks.at(second);
  if (next.every((byte) => byte === 0)) return undefined;
  return { problem: 'a header of zeros within the archive', place, next: second };
}

/** Looks for the next valid header. */
async function damage(
  blocks: Blocks,
  place: number,
  at: number,
  problem: string,
): Promise<TarDamage> {
  for (let next = at + BLOCK; next + BLOCK <= blocks.file.size; next += BLOCK) {
    const header = await blocks.at(next);
    if (header[0] !== 0 && headerSize(header) !== undefined) return { problem, place, next };
  }
  return { problem, place, next: blocks.file.size };
}

/** The size that a header says; undefined if its checksum does not fit. */
function headerSize(header: Buffer): number | undefined {
  let sum = 8 * 32;
  for (let i = 0; i < BLOCK; i++) if (i < 148 || i >= 156) sum += header[i] as number;
  if (sum !== octal(header, 148, 8)) return undefined;
  const size = (header[124] as number) & 0x80 ? binary(header, 124, 12) : octal(header, 124, 12);
  return Number.isSafeInteger(size) && size >= 0 ? size : undefined;
}

function octal(header: Buffer, at: number, length: number): number {
  const text = header.toString('latin1', at, at + length).replace(/[\0 ]+$/, '').trim();
  return text === '' ? 0 : /^[0-7]+$/.test(text) ? Number.parseInt(text, 8) : Number.NaN;
}

function binary(header: Buffer, at: number, length: number): number {
  let value = (header[at] as number) & 0x7f;
  for (let i = at + 1; i < at + length; i++) value = value * 256 + (header[i] as number);
  return value;
}

function headerName(header: Buffer): string {
  const name = textOf(header.subarray(0, 100));
  const isUstar = header.toString('latin1', 257, 263) === 'ustar\0';
  const prefix = isUstar ? textOf(header.subarray(345, 500)) : '';
  return prefix === '' ? name : `${prefix}/${name}`;
}

function textOf(bytes: Buffer): string {
  const end = bytes.indexOf(0);
  return bytes.toString('utf8', 0, end < 0 ? bytes.length : end);
}

/** Records of a pax header: `27 path=…\n`. */
function paxRecords(bytes: Buffer): ReadonlyMap<string, string> {
  const records = new Map<string, string>();
  for (let at = 0; at < bytes.length; ) {
    const space = bytes.indexOf(0x20, at);
    const length = space < 0 ? Number.NaN : Number(bytes.toString('latin1', at, space));
    if (!Number.isSafeInteger(length) || length <= space - at || at + length > bytes.length) break;
    const record = bytes.toString('utf8', space + 1, at + length - 1);
    const equals = record.indexOf('=');
    if (equals > 0) records.set(record.slice(0, equals), record.slice(equals + 1));
    at += length;
  }
  return records;
}

/** @throws DataError if the file begins with another format */
export async function expectTar(file: ByteFile): Promise<void> {
  const header = await file.read(0, BLOCK);
  if (header[0] === 0x1f && header[1] === 0x8b) {
    throw new DataError(
      `${file.path} is compressed, so its members have no places of their own. Unpack it with ` +
        '`gunzip` first.',
    );
  }
  const isTar = header.length === BLOCK && headerSize(header) !== undefined;
  if (isTar || (file.size === 2 * BLOCK && header.every((byte) => byte === 0))) return;
  if (header.length === BLOCK && header.every((byte) => byte === 0)) return;
  throw new DataError(`${file.path} is no tar archive. Download or write it again.`);
}
