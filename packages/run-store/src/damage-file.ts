/**
 * Damages one file of a run at a time, as disks, editors and half-finished copies do: for tests of
 * programs that read run directories.
 */
import { cpSync, readFileSync, renameSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Random } from '@saccade/core';
import { listFiles } from './durable-files.ts';
import { nodeFileSystem } from './file-system.ts';

/** A change that was made, in words, and how to take it back. */
export interface Mutation {
  readonly what: string;
  undo(): void;
}

const kinds = [
  'flip',
  'cut',
  'delete',
  'digit',
  'rows',
  'dropRow',
  'swap',
  'append',
  'zero',
] as const;

/** Damages a random file below a directory. @param run is changed until `undo` is called */
export function mutate(run: string, random: Random): Mutation {
  const files = listFiles(nodeFileSystem, run);
  const file = random.pick(files);
  const path = join(run, file);
  const before = readFileSync(path);
  const undo = (): void => writeFileSync(path, before);
  const kind = random.pick([...kinds]);
  const text = before.toString('latin1');
  const write = (content: string): void => writeFileSync(path, content, 'latin1');
  const done = (what: string): Mutation => ({ what: `${file}: ${what}`, undo });
  if (kind === 'delete') {
    rmSync(path);
    return done('deleted');
  }
  if (kind === 'cut') {
    const size = random.integer(before.length + 1);
    truncateSync(path, size);
    return done(`cut to ${size} of ${before.length} bytes`);
  }
  if (kind === 'append') {
    write(`${text}${random.pick(['{}\n', '{"stage":"rl"', '\n', 'x', '0\n', '[]\n'])}`);
    return done('something appended');
  }
  if (kind === 'digit') {
    const digits = [...text.matchAll(/\d/g)].map(({ index }) => index);
    if (digits.length > 0) {
      const at = random.pick(digits);
      const other = String((Number(text[at]) + 1 + random.integer(9)) % 10);
      write(text.slice(0, at) + other + text.slice(at + 1));
      return done(`digit at ${at} made ${other}`);
    }
  }
  if (kind === 'rows' || kind === 'dropRow') {
    const rows = text.split('\n');
    if (rows.length > 3) {
      const at = random.integer(rows.length - 2);
      const [one = '', two = ''] = rows.splice(at, 2);
      rows.splice(at, 0, ...(kind === 'rows' ? [two, one] : [two]));
      write(rows.join('\n'));
      return done(`row ${at + 1} ${kind === 'rows' ? 'swapped with the next' : 'dropped'}`);
    }
  }
  if (kind === 'swap') {
    const others = files.filter((one) => one !== file && extensionOf(one) === extensionOf(file));
    if (others.length > 0) return swap(run, file, random.pick(others));
  }
  if (kind === 'zero') {
    writeFileSync(path, Buffer.alloc(before.length));
    return done('all zeros');
  }
  if (before.length === 0) {
    write('x');
    return done('no longer empty');
  }
  const at = random.integer(before.length);
  const changed = Buffer.from(before);
  changed[at] = (changed[at] ?? 0) ^ (1 << random.integer(8));
  writeFileSync(path, changed);
  return done(`bit flipped at ${at}`);
}

function extensionOf(file: string): string {
  return file.slice(file.lastIndexOf('.'));
}

function swap(run: string, one: string, other: string): Mutation {
  const exchange = (): void => {
    const [a, b] = [join(run, one), join(run, other)];
    const aside = join(dirname(run), 'aside');
    cpSync(a, aside);
    renameSync(b, a);
    renameSync(aside, b);
  };
  exchange();
  return { what: `${one} swapped with ${other}`, undo: exchange };
}
