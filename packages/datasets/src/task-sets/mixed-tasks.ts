/** The tasks of opened sources as one task set: what `dataset` and `mixture` share. */
import { StateError } from '@saccade/core';
import type { DataFacts, Split, Task, TaskSet } from '@saccade/gym';
import { Interleave, type Share } from '../mixture/interleave.ts';
import type { DataSource } from '../sources/data-source.ts';

/** One source of a mixture. */
export interface MixedSource {
  readonly source: DataSource;
  /** Share of the training tasks; relative. */
  readonly weight: number;
  /** Passes over its rows; Infinity: as many as a run needs. */
  readonly epochs: number;
}

/** Between an id and the number of the pass in which a row comes again. */
const PASS = '@';

/** An opened mixture. */
export class MixedTasks implements Pick<TaskSet, 'size' | 'task' | 'dispose' | 'facts'> {
  readonly #sources: readonly MixedSource[];
  readonly #seed: number;
  readonly #orders = new Map<string, { at(place: number): number }>();
  readonly #train: Interleave | undefined;
  readonly #heldOut: Interleave | undefined;

  constructor(sources: readonly MixedSource[], seed: number) {
    this.#sources = sources;
    this.#seed = seed;
    this.#train = interleaved(
      sources.map(({ source, weight, epochs }) => {
        const rows = source.size('train');
        return { weight: rows === 0 ? 0 : weight, length: rows === 0 ? 0 : rows * epochs };
      }),
    );
    // Each source is measured on as many tasks as the others, as long as it has them.
    this.#heldOut = interleaved(
      sources.map(({ source }) => {
        const length = source.size('heldOut');
        return { weight: length === 0 ? 0 : 1, length };
      }),
    );
  }

  size(split: Split): number {
    return this.#of(split)?.size ?? 0;
  }

  async task(split: Split, index: number): Promise<Task> {
    const interleave = this.#of(split);
    if (interleave === undefined || index >= interleave.size) {
      throw new StateError(`There is no task ${index} in ${split}; there are ${this.size(split)}.`);
    }
    const { source: number, occurrence } = interleave.at(index);
    const { source } = this.#sources[number] as MixedSource;
    const rows = source.size(split);
    const pass = Math.floor(occurrence / rows);
    const row = this.#orderOf(number, split, pass).at(occurrence % rows);
    const task = await source.task(split, row, pass);
    return pass === 0 ? task : { ...task, id: `${task.id}${PASS}${pass + 1}` };
  }

  facts(): readonly DataFacts[] {
    return this.#sources.map(({ source }) => {
      const { settings, tables, mapping } = source;
      return {
        name: source.name,
        from: settings.from,
        format: tables.format,
        mapping: mapping.name,
        ...(tables.card?.title && { title: tables.card.title }),
        license: tables.card?.license ?? 'not stated',
        trainRows: source.size('train'),
        heldOutRows: source.size('heldOut'),
        sizeBytes: tables.sizeBytes,
      };
    });
  }

  async dispose(): Promise<void> {
    for (const { source } of this.#sources) await source.dispose();
  }

  #of(split: Split): Interleave | undefined {
    return split === 'train' ? this.#train : this.#heldOut;
  }

  /** Orders of the pass that each source is in; those of passes before are forgotten. */
  #orderOf(number: number, split: Split, pass: number): { at(place: number): number } {
    const key = `${number} ${split} ${pass}`;
    let order = this.#orders.get(key);
    if (order === undefined) {
      const { source } = this.#sources[number] as MixedSource;
      order = source.order(split, split === 'heldOut' ? 0 : this.#seed, pass);
      this.#orders.delete(`${number} ${split} ${pass - 2}`);
      this.#orders.set(key, order);
    }
    return order;
  }
}

function interleaved(shares: readonly Share[]): Interleave | undefined {
  return shares.some(({ weight, length }) => weight > 0 && length > 0)
    ? new Interleave(shares)
    : undefined;
}
