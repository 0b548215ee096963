/** Helpers that the commands share: number arguments, repeated options, the sandbox's Python. */
import { homedir } from 'node:os';
import { dirname, isAbsolute, join, resolve, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { EventSink } from '@saccade/core';
import { InvalidArgumentError } from 'commander';

/** A non-negative whole number. */
export function wholeNumber(text: string): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 0 || text.trim() === '') {
    throw new InvalidArgumentError(`Expected a whole number of at least 0, got "${text}".`);
  }
  return value;
}

/** A number, e.g. a temperature; what it may be is for its field to say. */
export function finiteNumber(text: string): number {
  const value = Number(text);
  if (text.trim() !== '' && Number.isFinite(value)) return value;
  throw new InvalidArgumentError(`Expected a number, got "${text}".`);
}

/** A number above 0. */
export function aboveZero(text: string): number {
  const value = finiteNumber(text);
  if (value > 0) return value;
  throw new InvalidArgumentError(`Expected a number above 0, got "${text}".`);
}

/** A TCP port, 0 for any free one. */
export function portNumber(text: string): number {
  const value = wholeNumber(text);
  if (value <= 65_535) return value;
  throw new InvalidArgumentError(`Expected a port from 0 to 65535, got "${text}".`);
}

/** Exit status of a run that was asked to stop: not a failure, but not a finished run either. */
export const INTERRUPTED = 130;

/** A repeated option's values so far, with one more. */
export function collect<T>(value: T, before: readonly T[]): readonly T[] {
  return [...before, value];
}

/** The same for texts, of an option that is not there by default. */
export function more(text: string, before?: readonly string[]): readonly string[] {
  return collect(text, before ?? []);
}

/**
 * Where the sandbox's Python environment lives: in the clone's cache, or in the user's (the XDG base
 * directory) where the packages are installed, as node_modules is not a place for it.
 *
 * @param module address of a compiled module of this package
 */
function pythonDirectoryOf(
  module: string,
  environment: Readonly<Record<string, string | undefined>>,
): string {
  const path = fileURLToPath(module);
  if (!path.split(sep).includes('node_modules')) {
    return resolve(dirname(path), '../../../.cache/sandbox-venv');
  }
  const { XDG_CACHE_HOME: given } = environment;
  // As the specification says, a path that is not absolute counts as not given.
  const cache = given !== undefined && isAbsolute(given) ? given : join(homedir(), '.cache');
  return join(cache, 'saccade', 'sandbox-venv');
}

export const pythonDirectory: string = pythonDirectoryOf(import.meta.url, process.env);

/**
 * The interpreter of the sandbox; made on first use.
 *
 * @param signal ends its making
 * @throws MissingError with the remedy
 */
export async function openPython(onEvent: EventSink, signal?: AbortSignal): Promise<string> {
  const { ensurePython } = await import('@saccade/sandbox');
  return (await ensurePython(pythonDirectory, { onEvent, ...(signal && { signal }) })).python;
}
