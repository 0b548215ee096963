/** A policy's files: JSON, text and weights. A browser has `disk.browser.ts` in its place. */
import { existsSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { isAbsolute, join, resolve } from 'node:path';
import { DataError, messageOf } from '@saccade/core';
import type { NamedArray } from '@saccade/nn';
import {
  readSafetensors,
  readSafetensorsMetadata,
  writeParameterFile as writeFileOfParameters,
  writeSafetensors,
} from '@saccade/nn/files';

export { loadParameters as loadWeights, writeParameters as writeWeights } from '@saccade/nn/files';

export type Json = Readonly<Record<string, unknown>>;

/** @throws DataError if there is no such file, or it is no JSON */
export async function readJson(directory: string, file: string): Promise<Json> {
  try {
    const value: unknown = JSON.parse(await readFile(join(directory, file), 'utf8'));
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Json;
    throw new DataError('it is not a JSON object');
  } catch (error) {
    throw new DataError(`${file} in ${directory} cannot be read: ${messageOf(error)}.`, {
      cause: error,
    });
  }
}

/** @throws DataError if there is no such file */
export async function readText(directory: string, file: string): Promise<string> {
  try {
    return await readFile(join(directory, file), 'utf8');
  } catch (error) {
    throw new DataError(`${file} in ${directory} cannot be read: ${messageOf(error)}.`, {
      cause: error,
    });
  }
}

/** Makes the directory if it is not there. */
export async function writeText(directory: string, file: string, text: string): Promise<void> {
  await mkdir(directory, { recursive: true });
  await writeFile(join(directory, file), text);
}

export function hasFile(directory: string, file: string): boolean {
  return existsSync(join(directory, file));
}

/** The directory that a path means, seen from a directory or from the working directory. */
export function findDirectory(path: string, from: string): string | undefined {
  const candidates = isAbsolute(path) ? [path] : [join(from, path), resolve(path)];
  return candidates.find((candidate) => existsSync(candidate));
}

export function readArrays(directory: string, file: string): Promise<Map<string, NamedArray>> {
  return readSafetensors(join(directory, file));
}

/** Texts in the header of a file of arrays. */
export function readMetadata(
  directory: string,
  file: string,
): Promise<Readonly<Record<string, string>>> {
  return readSafetensorsMetadata(join(directory, file));
}

export function writeArrays(
  directory: string,
  file: string,
  arrays: ReadonlyMap<string, NamedArray>,
): Promise<void> {
  return writeSafetensors(join(directory, file), arrays);
}

/** Writes parameters from a device to one file. */
export function writeParameterFile(
  directory: string,
  file: string,
  ...[parameters, tensors, options]: DropFirst<Parameters<typeof writeFileOfParameters>>
): Promise<void> {
  return writeFileOfParameters(join(directory, file), parameters, tensors, options);
}

type DropFirst<List extends readonly unknown[]> = List extends [unknown, ...infer Rest] ? Rest : [];
