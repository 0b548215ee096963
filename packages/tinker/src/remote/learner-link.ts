/**
 * The connection of a policy to its learner. It outlives the learner: after a loss a new one begins
 * with the last saved weights, and is given again what came after.
 */
import type { EventSink } from '@saccade/core';
import { HttpError } from '@saccade/http';
import {
  type ModelRequest,
  openTinkerClient,
  type TinkerClient,
  type TinkerClientOptions,
} from '../client/tinker-client.ts';
import type { TinkerModel } from '../client/tinker-model.ts';
import { TinkerError } from '../wire/tinker-error.ts';
import { Journal } from './journal.ts';

/** The learner to reach, and how often it may be lost. */
export interface LinkOptions extends TinkerClientOptions {
  readonly request: ModelRequest;
  /** Most losses of the learner within one call before the run ends. Default 20. */
  readonly maxLosses?: number;
  readonly onEvent?: EventSink;
}

/** Opens a client and makes the model. @throws TinkerError, or HttpError if there is no server */
export async function openLink(options: LinkOptions): Promise<LearnerLink> {
  const { maxLosses = 20 } = options;
  for (let losses = 0; ; losses++) {
    let client: TinkerClient | undefined;
    try {
      client = await openTinkerClient(options);
      return new LearnerLink(client, await client.createModel(options.request), options);
    } catch (error) {
      client?.dispose();
      if (!isLoss(error) || losses >= maxLosses) throw error;
    }
  }
}

export class LearnerLink {
  readonly client: TinkerClient;
  readonly journal: Journal = new Journal();
  readonly #options: LinkOptions;
  #model: TinkerModel;
  #recovering: Promise<void> | undefined;
  #losses = 0;

  constructor(client: TinkerClient, model: TinkerModel, options: LinkOptions) {
    this.client = client;
    this.#model = model;
    this.#options = options;
  }

  get model(): TinkerModel {
    return this.#model;
  }

  /** Times that the learner was lost. */
  get losses(): number {
    return this.#losses;
  }

  /**
   * Runs a call. If the learner is lost meanwhile, a new one is brought to where it was, and the call
   * runs again: it must do nothing that is not the learner's.
   */
  async run<Result>(call: (model: TinkerModel) => Promise<Result>): Promise<Result> {
    const { maxLosses = 20 } = this.#options;
    for (let losses = 0; ; losses++) {
      await this.#recovering;
      const used = this.#model;
      try {
        return await call(used);
      } catch (error) {
        if (!isLoss(error) || losses >= maxLosses) throw error;
        await this.#recover(used, error);
      }
    }
  }

  /** Replaces the model: with its first weights, or those of the journal. */
  async replace(): Promise<void> {
    const before = this.#model;
    const model = await this.client.createModel(this.#options.request);
    await this.journal.replay(model);
    this.#model = model;
    await before.unload().catch(() => {});
  }

  async dispose(): Promise<void> {
    await this.#model.unload().catch(() => {});
    this.client.dispose();
  }

  /** Brings a new learner to where the lost one was; several callers wait for the same. */
  async #recover(lost: TinkerModel, cause: unknown): Promise<void> {
    if (this.#model !== lost) return;
    this.#recovering ??= this.#again(lost, cause).finally(() => {
      this.#recovering = undefined;
    });
    await this.#recovering;
  }

  async #again(lost: TinkerModel, cause: unknown): Promise<void> {
    const { maxLosses = 20, request, onEvent } = this.#options;
    for (let tries = 0; ; tries++) {
      this.#losses++;
      const { length, steps, point } = this.journal;
      onEvent?.({
        kind: 'warning',
        message:
          `The learner was lost (${cause instanceof Error ? cause.message : String(cause)}) A new one ` +
          `begins with ${point?.uri ?? 'the first weights'} and is given ${length} calls again, ` +
          `${steps} of them steps.`,
      });
      try {
        await this.client.connect();
        const model = await this.client.createModel(request);
        await this.journal.replay(model);
        this.#model = model;
        // On a server that only forgot a result, the old one is still there.
        await lost.unload().catch(() => {});
        return;
      } catch (error) {
        if (!isLoss(error) || tries >= maxLosses) throw error;
      }
    }
  }
}

function isLoss(error: unknown): boolean {
  if (error instanceof TinkerError) return error.isLoss;
  return error instanceof HttpError && error.fault === 'unreachable';
}
