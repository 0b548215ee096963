/** What a learner saves where it runs: for checkpoints of this machine, and for its loss alone. */
import { randomUUID } from 'node:crypto';
import type { EventSink } from '@saccade/core';
import type { SavedWeights } from '../client/tinker-model.ts';
import type { RecoveryPoint } from './journal.ts';
import { unlessFull } from './learner-faults.ts';
import type { LearnerLink } from './learner-link.ts';

export class ServerSaves {
  readonly #link: LearnerLink;
  readonly #onEvent: EventSink | undefined;
  /** Names of what is saved here are this learner's own. */
  readonly #run: string = randomUUID().slice(0, 8);
  #count = 0;
  /** Saved for a loss alone, and still there. */
  readonly #passing = new Set<string>();

  constructor(link: LearnerLink, onEvent: EventSink | undefined) {
    this.#link = link;
    this.#onEvent = onEvent;
  }

  /** Saves for a checkpoint, which has to remember the path. */
  async save(version: number, optimizer: boolean): Promise<SavedWeights> {
    const name = `${this.#run}-${this.#count++}-v${version}`;
    return await this.#link.run((model) => model.saveWeights(name, { optimizer }));
  }

  /** Saves so that another learner begins there. */
  async saveToBegin(optimizer: boolean): Promise<void> {
    const name = `${this.#run}-recovery-${this.#count++}`;
    const { path } = await this.#link.run((model) => model.saveWeights(name, { optimizer }));
    this.#passing.add(path);
    await this.beginAt({ uri: path, hasOptimizer: optimizer });
  }

  /** The same with everything, for a loss; where the learner's disk is full, another begins earlier. */
  async saveToRecover(): Promise<void> {
    await unlessFull(this.#onEvent, () => this.saveToBegin(true));
  }

  /**
   * After a loss another learner begins with these weights. Those of two points before are needed no
   * more: one that begins right now may still ask for the last.
   */
  async beginAt(point: RecoveryPoint): Promise<void> {
    const { journal } = this.#link;
    const needed = [point.uri, journal.point?.uri];
    journal.restart(point);
    await this.#deletePassing((path) => !needed.includes(path));
  }

  /** @throws if the server cannot be asked now */
  async delete(path: string): Promise<void> {
    if (path !== this.#link.journal.point?.uri) await this.#link.client.deleteCheckpoint(path);
  }

  /** Deletes what was saved for a loss alone: nobody begins there any more. */
  async dispose(): Promise<void> {
    await this.#deletePassing(() => true);
  }

  async #deletePassing(isNeedless: (path: string) => boolean): Promise<void> {
    for (const path of [...this.#passing].filter(isNeedless)) {
      try {
        await this.#link.client.deleteCheckpoint(path);
        this.#passing.delete(path);
      } catch {
        // They take room until the next time.
        return;
      }
    }
  }
}
