/** JSON documents that end with a checksum of everything before it. */
import { createHash } from 'node:crypto';
import { messageOf } from '@saccade/core';
import type { FileSystem } from './file-system.ts';
import { damageOf, oneLine, type Read } from './store-error.ts';

/** Version of the run directory that this package writes; it reads all before it too. */
export const FORMAT_VERSION = 2;

export type DocumentKind =
  | 'config'
  | 'environment'
  | 'manifest'
  | 'checkpoint'
  | 'evaluation'
  | 'results'
  | 'profile';

/** A document as it was found. */
export interface SealedDocument {
  /** Everything but `format`, `kind` and `checksum`; of an old document all of it. */
  readonly fields: Readonly<Record<string, unknown>>;
  /** False for a document of format 1, which has no checksum. */
  readonly isChecked: boolean;
}

const SEAL = /,\n {2}"checksum": "sha256:([0-9a-f]{64})"\n\}\n$/;

export function sha256(bytes: Uint8Array | string): string {
  return createHash('sha256').update(bytes).digest('hex');
}

/** The text of a document, sealed. `fields` is JSON. */
export function formatSealed(
  kind: DocumentKind,
  fields: Readonly<Record<string, unknown>>,
): string {
  const open = JSON.stringify({ format: FORMAT_VERSION, kind, ...fields }, null, 2).slice(0, -2);
  return `${open},\n  "checksum": "sha256:${sha256(open)}"\n}\n`;
}

/**
 * Reads a document and checks its seal.
 *
 * @param remedy what to do about damage
 * @returns undefined with the damage if it is missing or not as it was written
 */
export function readSealed(
  fileSystem: FileSystem,
  path: string,
  kind: DocumentKind,
  remedy: string,
): Read<SealedDocument | undefined> {
  let bytes: Buffer;
  try {
    bytes = fileSystem.readFile(path);
  } catch (error) {
    const { problem } = damageOf(path, error);
    return { value: undefined, damage: [{ path, problem, remedy }] };
  }
  const result = parseSealed(bytes, kind);
  return typeof result === 'string'
    ? { value: undefined, damage: [{ path, problem: result, remedy }] }
    : { value: result, damage: [] };
}

/** A document of a run that has sealed ones must be sealed too. */
export function refuseUnsealed(
  path: string,
  { value, damage }: Read<SealedDocument | undefined>,
  isSealedRun: boolean,
  remedy: string,
): Read<SealedDocument | undefined> {
  if (value === undefined || value.isChecked || !isSealedRun) return { value, damage };
  const problem = 'it has no checksum, and the run has been written with checksums';
  return { value: undefined, damage: [{ path, problem, remedy }] };
}

/** The document, or what is wrong with it. */
function parseSealed(bytes: Buffer, kind: DocumentKind): SealedDocument | string {
  const seal = SEAL.exec(bytes.toString('latin1'));
  const isChecked = seal !== null;
  if (isChecked && sha256(bytes.subarray(0, seal.index)) !== seal[1]) {
    return 'it does not match its checksum, so it was changed after it was written';
  }
  let value: unknown;
  try {
    value = JSON.parse(bytes.toString('utf8'));
  } catch (error) {
    return oneLine(`it is not JSON (${messageOf(error)})`);
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return 'it is not a JSON object';
  }
  const { format, kind: found, checksum, ...fields } = value as Record<string, unknown>;
  if (typeof format === 'number' && format > FORMAT_VERSION) {
    return `it has format ${format}, and this version of Saccade reads up to ${FORMAT_VERSION}`;
  }
  if (!isChecked) {
    if (checksum !== undefined || found !== undefined || (format !== undefined && format !== 1)) {
      return 'its checksum is missing, so it was changed after it was written';
    }
    return { fields: value as Record<string, unknown>, isChecked };
  }
  if (found !== kind) return `it is a document of the kind "${String(found)}", expected "${kind}"`;
  return { fields, isChecked };
}
