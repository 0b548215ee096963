/** Downloads one file of a hub into the cache: resumed where it broke off, verified by its hash. */
import { createHash, type Hash } from 'node:crypto';
import { createReadStream, createWriteStream, existsSync } from 'node:fs';
import { mkdir, readdir, rename, rm, stat, truncate } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { ReadableStream } from 'node:stream/web';
import { DataError } from '@saccade/core';
import pRetry from 'p-retry';
import { isTransient } from './hub.ts';

/** A file as a hub lists it. */
export interface HubFile {
  readonly path: string;
  readonly sizeBytes: number;
  /** Of large files the SHA-256 of their bytes, of others the hash that git gives them. */
  readonly hash: string;
  readonly hashKind: 'sha256' | 'git';
}

const ATTEMPTS = 6;

/**
 * Downloads to `target` unless it is there. What an earlier attempt or process left half-done is
 * continued.
 *
 * @param open        the file's bytes from a position on
 * @param onProgress  hears how many bytes are there
 * @throws DataError if the bytes have another hash, or the disk is full
 */
export async function downloadBlob(
  target: string,
  file: HubFile,
  open: (start: number) => Promise<ReadableStream>,
  onProgress: (doneBytes: number) => void,
  retryMilliseconds = 1000,
): Promise<void> {
  if (existsSync(target)) return;
  await mkdir(dirname(target), { recursive: true });
  const partial = await claimPartial(target);
  try {
    await pRetry(() => continueDownload(partial, file, open, onProgress), {
      retries: ATTEMPTS - 1,
      minTimeout: retryMilliseconds,
      shouldRetry: ({ error }) => isTransient(error),
    });
    await rename(partial, target);
  } catch (error) {
    // For the next one to continue; a claimed name is this process's.
    if (existsSync(partial)) await rename(partial, `${target}.incomplete`);
    throw (error as NodeJS.ErrnoException).code === 'ENOSPC' ? diskFull(target, file) : error;
  }
}

/**
 * Gives this process the half-done file alone: two that write to one would damage it. A rename is
 * what only one can win; a file that a dead process had claimed is free.
 */
async function claimPartial(target: string): Promise<string> {
  const own = `${target}.incomplete.${process.pid}`;
  const claimed = `${basename(target)}.incomplete`;
  const left = (await readdir(dirname(target))).filter((name) => {
    if (name === claimed) return true;
    return name.startsWith(`${claimed}.`) && !isRunning(Number(name.slice(claimed.length + 1)));
  });
  for (const name of left) {
    try {
      await rename(join(dirname(target), name), own);
      break;
    } catch {
      // Another process was faster.
    }
  }
  return own;
}

function isRunning(pid: number): boolean {
  if (!Number.isInteger(pid)) return true;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ESRCH';
  }
}

async function continueDownload(
  partial: string,
  file: HubFile,
  open: (start: number) => Promise<ReadableStream>,
  onProgress: (doneBytes: number) => void,
): Promise<void> {
  const { path, sizeBytes } = file;
  let size = existsSync(partial) ? (await stat(partial)).size : 0;
  if (size > sizeBytes) {
    await truncate(partial, 0);
    size = 0;
  }
  const hash = startHash(file);
  if (size > 0) for await (const part of createReadStream(partial)) hash.update(part as Buffer);
  if (size < sizeBytes || !existsSync(partial)) {
    let done = size;
    const counted = new Transform({
      transform(part: Buffer, _, next) {
        hash.update(part);
        done += part.length;
        onProgress(done);
        next(null, part);
      },
    });
    const body = Readable.fromWeb(await open(size));
    await pipeline(body, counted, createWriteStream(partial, { flags: 'a' })).catch(asError);
    size = (await stat(partial)).size;
  }
  if (size < sizeBytes) asError(`${path} broke off at ${size} of ${sizeBytes} bytes.`);
  const found = hash.digest('hex');
  if (found === file.hash && size === sizeBytes) return;
  await rm(partial, { force: true });
  throw new DataError(
    `${path} arrived with the hash ${found}, the hub lists ${file.hash}: it was damaged on the ` +
      'way, or changed meanwhile. It was removed; download it again.',
  );
}

/** Throws an error; what is only text is that of a connection that broke. */
function asError(error: unknown): never {
  if (error instanceof Error) throw error;
  throw Object.assign(new Error(String(error)), { code: 'ECONNRESET' });
}

/** Git hashes a file's size with its bytes. */
function startHash({ hashKind, sizeBytes }: HubFile): Hash {
  if (hashKind === 'sha256') return createHash('sha256');
  return createHash('sha1').update(`blob ${sizeBytes}\0`);
}

/** The error of a disk without room for a download. */
export function diskFull(
  target: string,
  { sizeBytes, path }: Pick<HubFile, 'sizeBytes' | 'path'>,
): DataError {
  return new DataError(
    `There is no room for ${path} (${formatSize(sizeBytes)}) in ${dirname(target)}. Free space, ` +
      'or set HF_HOME to a disk that has it; the download then goes on where it is.',
  );
}

/** `7.5 GB` */
export function formatSize(bytes: number): string {
  return bytes < 1e9 ? `${(bytes / 1e6).toFixed(1)} MB` : `${(bytes / 1e9).toFixed(1)} GB`;
}
