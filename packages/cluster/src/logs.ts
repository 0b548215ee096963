/** Logs of a cluster's parts and jobs: their last lines, and those that come. */
import { closeSync, existsSync, fstatSync, openSync, readdirSync, readSync } from 'node:fs';
import { join } from 'node:path';
import { ConfigError, nearestName } from '@saccade/core';
import type { ClusterPaths } from './state.ts';

const TAIL_BYTES = 256 * 1024;
const LOOK_MS = 200;

/** Names of what has a log: parts, jobs and the supervisor. */
export function listLogs({ logs }: ClusterPaths): readonly string[] {
  if (!existsSync(logs)) return [];
  return readdirSync(logs)
    .filter((file) => file.endsWith('.log'))
    .map((file) => file.slice(0, -'.log'.length))
    .sort();
}

/** The file of a log. @throws ConfigError if there is none of this name */
export function logFile(paths: ClusterPaths, name: string): string {
  const known = listLogs(paths);
  if (known.includes(name)) return join(paths.logs, `${name}.log`);
  const near = nearestName(name, known);
  const remedy =
    near === undefined ? `Known: ${known.join(', ') || 'none yet'}.` : `Did you mean ${near}?`;
  throw new ConfigError('part', `There is no log of ${name}. ${remedy}`);
}

/** The last lines of a file, without empty ones; at most those of its last 256 KiB. */
export function lastLines(path: string, count: number): readonly string[] {
  if (!existsSync(path) || count <= 0) return [];
  const file = openSync(path, 'r');
  try {
    const { size } = fstatSync(file);
    const text = readFrom(file, Math.max(0, size - TAIL_BYTES), size);
    return text
      .split('\n')
      .filter((line) => line.trim() !== '')
      .slice(-count);
  } finally {
    closeSync(file);
  }
}

/** How a log is followed. */
export interface FollowOptions {
  /** Bytes that are known already. Default: all that are there. */
  readonly from?: number;
  readonly onText: (text: string) => void;
  /** Whether nothing more will come. Default: never. */
  readonly isOver?: () => boolean;
  readonly signal?: AbortSignal;
}

/** Passes on what comes to a log, until it is over or the signal aborts. */
export async function followLog(path: string, options: FollowOptions): Promise<void> {
  const { onText, isOver = () => false, signal } = options;
  let at = options.from ?? sizeOf(path);
  while (signal?.aborted !== true) {
    // Asked first: what was written until then is read below.
    const isLast = isOver();
    at = passOn(path, at, onText);
    if (isLast) return;
    await new Promise((wake) => setTimeout(wake, LOOK_MS));
  }
}

function passOn(path: string, from: number, onText: (text: string) => void): number {
  if (!existsSync(path)) return from;
  const file = openSync(path, 'r');
  try {
    const { size } = fstatSync(file);
    // A log that was begun anew is shorter.
    const start = size < from ? 0 : from;
    for (let at = start; at < size; at += TAIL_BYTES) {
      onText(readFrom(file, at, Math.min(size, at + TAIL_BYTES)));
    }
    return size;
  } finally {
    closeSync(file);
  }
}

function sizeOf(path: string): number {
  if (!existsSync(path)) return 0;
  const file = openSync(path, 'r');
  try {
    return fstatSync(file).size;
  } finally {
    closeSync(file);
  }
}

function readFrom(file: number, start: number, end: number): string {
  const bytes = Buffer.alloc(end - start);
  const read = readSync(file, bytes, 0, bytes.length, start);
  return bytes.toString('utf8', 0, read);
}
