/** The record that a checkpoint of this machine has of weights that a learner keeps. */
import { existsSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DataError, messageOf } from '@saccade/core';
import { z } from '@saccade/core/settings';

const FILE = 'remote-learner.json';

const record = z.strictObject({
  format: z.literal(1),
  /** The server's name of the weights. */
  uri: z.string().min(1),
  /** Of all files, as the server gave it; unset where it gave none. */
  sha256: z.string().optional(),
  /** Optimizer steps. */
  version: z.number().int().min(0),
  baseModel: z.string().min(1),
  lora: z.looseObject({ rank: z.number() }).optional(),
  /** Whether the optimizer's state is there too. */
  hasOptimizer: z.boolean(),
  /** Where the server was, for who looks for it. */
  server: z.string(),
});

/** The contents of a record. */
export type CheckpointRecord = z.output<typeof record>;

/** Whether a directory has a record in the place of weights. */
export function hasRecord(directory: string): boolean {
  return existsSync(join(directory, FILE));
}

export async function writeRecord(directory: string, content: CheckpointRecord): Promise<void> {
  await mkdir(directory, { recursive: true });
  await writeFile(join(directory, FILE), `${JSON.stringify(content, null, 2)}\n`);
}

/** @throws DataError if there is none, or it is damaged */
export async function readRecord(directory: string): Promise<CheckpointRecord> {
  if (!hasRecord(directory)) {
    throw new DataError(
      `${directory} has no ${FILE}: its weights are not those of a learner elsewhere. Give a ` +
        'checkpoint of a run with model=remote.',
    );
  }
  try {
    return record.parse(JSON.parse(await readFile(join(directory, FILE), 'utf8')));
  } catch (cause) {
    const message = `${FILE} in ${directory} cannot be read: ${messageOf(cause)}`;
    throw new DataError(message, { cause });
  }
}

/** The server's name of the weights of a directory; undefined where no record tells one. */
export async function recordedUri(directory: string): Promise<string | undefined> {
  try {
    return (await readRecord(directory)).uri;
  } catch {
    return undefined;
  }
}
