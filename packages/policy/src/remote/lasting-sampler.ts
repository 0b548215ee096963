/**
 * A sampler that outlives its engine: one that was lost is waited for, is given the weights again, and
 * then asked again. Samples are functions of their seeds, so a run ends with the numbers of one
 * whose engine stayed.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { type EventSink, messageOf } from '@saccade/core';
import type { Processor, SampleRequest, SampleResult, Sampler } from '../policy.ts';
import { EngineError, isGone } from './engine-error.ts';
import type { RemotePolicy } from './remote-policy.ts';

/** How long an engine may be away, and what gives it the weights again. */
export interface LastingOptions {
  /** Seconds in which an engine that is gone must be back. */
  readonly returnSeconds: number;
  /** Gives the engine the weights that it was given last; absent: they are not ours to give. */
  readonly restore?: () => Promise<void>;
  /** Pause between looks for an engine that does not answer, in seconds. Default 0.5. */
  readonly lookSeconds?: number;
  readonly onEvent?: EventSink;
}

/** Times in a row that weights of others are replaced for one request. */
const MOST_STRANGERS = 5;

export class LastingSampler implements Sampler {
  readonly processor: Processor;
  readonly #engine: RemotePolicy;
  readonly #options: LastingOptions;
  /** The newest version that the engine was given, or is being given. */
  #newest: number | undefined;
  #restoring: Promise<void> | undefined;

  constructor(engine: RemotePolicy, options: LastingOptions) {
    this.#engine = engine;
    this.#options = options;
    this.processor = engine.processor;
  }

  get version(): number {
    return this.#engine.version;
  }

  /** Gives the engine new weights, of this version. Answers of both are right meanwhile. */
  async update(version: number, publish: () => Promise<void>): Promise<void> {
    this.#newest = version;
    await this.#lasting(publish);
    this.#engine.setVersion(version);
  }

  /**
   * @throws EngineError if the engine does not come back in time, or refuses the request; the signal's
   *   reason if it is aborted
   */
  async sample(request: SampleRequest): Promise<SampleResult> {
    const { signal } = request;
    for (let strangers = 0; ; ) {
      await unlessAborted(this.#restoring, signal);
      const oldest = this.#engine.version;
      try {
        const result = await this.#engine.sample(request);
        const { policyVersion } = result;
        const newest = this.#newest;
        // Weights that were put there by others have whatever version they like.
        if (newest === undefined || this.#options.restore === undefined) return result;
        if (policyVersion >= oldest && policyVersion <= newest) return result;
        const said = `it samples with weights of version ${policyVersion}, and was given ${newest}`;
        if (++strangers > MOST_STRANGERS) {
          throw new EngineError(
            'failed',
            `${this.#engine.http.url}: ${said}, again and again. Does another run publish to it? Give each ` +
              'run an engine of its own.',
          );
        }
        await unlessAborted(this.#restore(said, true), signal);
      } catch (error) {
        signal?.throwIfAborted();
        if (!isGone(error)) throw error;
        await unlessAborted(this.#restore(messageOf(error), error.fault === 'unreachable'), signal);
      }
    }
  }

  release(key: string): void {
    this.#engine.release(key);
  }

  /** Brings the engine back to where it was; several callers wait for the same. */
  async #restore(cause: string, isAnother: boolean): Promise<void> {
    this.#restoring ??= this.#again(cause, isAnother).finally(() => {
      this.#restoring = undefined;
    });
    await this.#restoring;
  }

  /** @param isAnother whether the engine was surely started anew, and has lost its weights */
  async #again(cause: string, isAnother: boolean): Promise<void> {
    const { restore, onEvent } = this.#options;
    let isNew = await this.#untilThere(isAnother);
    if (restore === undefined || this.#newest === undefined) return;
    isNew ||= (await this.#reported()) !== this.#newest;
    if (!isNew) return;
    const message = `The engine was lost (${cause}). It is back, and is given the weights again.`;
    onEvent?.({ kind: 'warning', message });
    await this.#lasting(restore);
  }

  /** Runs what talks with the engine; again, if the engine is lost meanwhile. */
  async #lasting(run: () => Promise<void>): Promise<void> {
    const until = Date.now() + 1000 * this.#options.returnSeconds;
    for (;;) {
      try {
        await run();
        return;
      } catch (error) {
        if (!isGone(error) || Date.now() > until) throw error;
        await this.#untilThere(true);
      }
    }
  }

  /** The version that the engine says it has; undefined where it does not tell. */
  async #reported(): Promise<number | undefined> {
    for (let tries = 0; ; tries++) {
      try {
        return await this.#engine.reportedVersion();
      } catch (error) {
        if (!isGone(error)) throw error;
        if (error.fault === 'unreachable' || tries >= MOST_STRANGERS) return undefined;
      }
    }
  }

  /**
   * Waits until the engine answers.
   *
   * @returns whether it was away at all
   * @throws EngineError if it is not back in time
   */
  async #untilThere(isAway: boolean): Promise<boolean> {
    const { returnSeconds, lookSeconds = 0.5 } = this.#options;
    const { http } = this.#engine;
    const until = Date.now() + 1000 * returnSeconds;
    for (let wasAway = isAway; ; wasAway = true) {
      try {
        if (await http.has('/v1/models')) return wasAway;
      } catch (error) {
        if (!(error instanceof EngineError && error.isTransient)) throw error;
        if (Date.now() > until) {
          throw new EngineError(
            error.fault,
            `${http.url} was away for ${returnSeconds} seconds. Start it again, then continue the ` +
              `run with --resume. ${error.message}`,
            { cause: error },
          );
        }
      }
      await sleep(1000 * lookSeconds * (0.5 + Math.random()));
    }
  }
}

/** The result of a wait that the signal ends early. */
async function unlessAborted(
  waited: Promise<void> | undefined,
  signal: AbortSignal | undefined,
): Promise<void> {
  if (waited === undefined) return;
  if (signal === undefined) {
    await waited;
    return;
  }
  signal.throwIfAborted();
  let stop = (): void => {};
  const aborted = new Promise<never>((_, reject) => {
    stop = () => reject(signal.reason);
    signal.addEventListener('abort', stop, { once: true });
  });
  try {
    await Promise.race([waited, aborted]);
  } finally {
    signal.removeEventListener('abort', stop);
  }
}
