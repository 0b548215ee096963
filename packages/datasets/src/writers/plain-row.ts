/** A task as a row of plain values, without its images. */
import { DataError } from '@saccade/core';
import type { Task } from '@saccade/gym';

/** Columns of every format, in their order; images come beside them. */
export interface PlainRow {
  readonly id: string;
  readonly question: string;
  readonly answer: string;
  /** JSON. */
  readonly metadata: string;
}

/**
 * The row of a task. What `dataset` adds to the metadata of every task is left out: it belongs to the
 * files that were read.
 *
 * @throws DataError for a task with videos, which no format of an export has
 */
export function plainRow({ id, question, answer, metadata, videos = [] }: Task): PlainRow {
  if (videos.length > 0) {
    throw new DataError(`The task ${id} has videos, which are not exported. Leave its source out.`);
  }
  const { row: _, ...facts } = metadata;
  return { id, question, answer, metadata: JSON.stringify(facts) };
}
