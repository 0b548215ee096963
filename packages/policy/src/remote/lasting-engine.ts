/**
 * An engine that may be lost: it is waited for, and given the weights again. Samples are functions of
 * their seeds, so a run ends with the numbers of one whose engines stayed.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { type EventSink, messageOf } from '@saccade/core';
import type { SampleRequest, SampleResult } from '../policy.ts';
import { EngineError, isBusy, isGone } from './engine-error.ts';
import type { RemotePolicy } from './remote-policy.ts';

/** How long an engine may be away, and what gives it the weights again. */
export interface LastingOptions {
  /** Seconds in which an engine that is gone must be back. */
  readonly returnSeconds: number;
  /**
   * Gives the engine the newest weights there are, as one of `remote.changes`, and returns their version;
   * undefined if there are none yet. Absent: they are not ours to give.
   */
  readonly restore?: () => Promise<number | undefined>;
  /** Pause between looks for an engine that does not answer, in seconds. Default 0.5. */
  readonly lookSeconds?: number;
  readonly onEvent?: EventSink;
}

/** Tries to hear from an engine which weights it has. */
const MOST_TRIES = 5;

/** An answer of weights that the engine was not given. */
export class StrangeWeights extends EngineError {}

/** Whether an engine has to be brought back before it can be asked again. */
export function isLost(error: unknown): error is EngineError {
  return isGone(error) || error instanceof StrangeWeights;
}

/** An engine behind HTTP that may be lost, and comes back with the weights that it is to have. */
export class LastingEngine {
  readonly remote: RemotePolicy;
  readonly #options: LastingOptions;
  /** The newest version that the engine was given, or is to be given. */
  #newest: number | undefined;
  #isClosed = false;

  constructor(remote: RemotePolicy, options: LastingOptions) {
    this.remote = remote;
    this.#options = options;
  }

  /** Weights of this version are on their way: from now on answers of them are right, too. */
  expect(version: number): void {
    this.#newest = version;
  }

  /**
   * Asks once.
   *
   * @throws EngineError, with `isLost` where the engine must be restored first; the signal's reason if it
   *   is aborted
   */
  async sample(request: SampleRequest): Promise<SampleResult> {
    const oldest = this.remote.version;
    const isCertain = this.remote.changes.watch();
    const result = await this.remote.sample(request);
    const newest = this.#newest;
    // Weights that were put there by others have whatever version they like.
    if (newest === undefined || this.#options.restore === undefined) return result;
    const { policyVersion } = result;
    if (!(await isCertain())) {
      throw new EngineError(
        'aborted',
        `${this.remote.http.url}: new weights failed to load while it answered, which may be with ` +
          'those or the ones before. It can be asked again.',
      );
    }
    if (policyVersion >= oldest && policyVersion <= newest) return result;
    throw new StrangeWeights(
      'failed',
      `${this.remote.http.url}: it samples with weights of version ${policyVersion}, and was given ` +
        `${newest}. Does another run publish to it? Give each run an engine of its own.`,
    );
  }

  /**
   * Waits until the engine is there and has the newest weights.
   *
   * @param cause why it is asked for
   * @throws EngineError if it is not back in time
   */
  async restore(cause: EngineError): Promise<void> {
    const { restore, onEvent } = this.#options;
    if (isBusy(cause)) await this.pause();
    const isAnother = cause instanceof StrangeWeights || cause.fault === 'unreachable';
    const isNew = await this.#untilThere(isAnother);
    if (restore === undefined || this.#newest === undefined) return;
    if (!isNew && !this.remote.changes.areUnknown) {
      const reported = await this.#reported();
      // Asked after the answer: newer ones may be on their way since.
      if (reported === this.#newest) {
        if (this.remote.version < reported) this.remote.setVersion(reported);
        return;
      }
    }
    const message = `An engine was lost (${messageOf(cause)}) It is back, and is given the weights again.`;
    onEvent?.({ kind: 'warning', message });
    for (;;) {
      const given = await this.#patiently(restore);
      if (given !== undefined && this.remote.version < given) this.remote.setVersion(given);
      if ((given ?? -1) >= this.#newest || this.#isClosed) return;
      // Newer ones are on their way.
      await this.pause();
    }
  }

  /** Whether it has the newest weights that it is to have, as far as they are ours to give. */
  get isCurrent(): boolean {
    if (this.#options.restore === undefined || this.#newest === undefined) return true;
    return this.remote.version >= this.#newest;
  }

  /** Waits for nothing any more. */
  close(): void {
    this.#isClosed = true;
  }

  /** Waits for as long as lies between two looks for an engine, so many times. */
  async pause(times = 1): Promise<void> {
    const { lookSeconds = 0.5 } = this.#options;
    await sleep(1000 * times * lookSeconds * (0.5 + Math.random()));
  }

  /** Runs what talks with the engine; again, if the engine is lost or busy meanwhile. */
  async #patiently<Result>(run: () => Promise<Result>): Promise<Result> {
    const until = Date.now() + 1000 * this.#options.returnSeconds;
    for (;;) {
      try {
        return await run();
      } catch (error) {
        if (!(isGone(error) || isBusy(error)) || Date.now() > until) throw error;
        await this.pause();
        await this.#untilThere(true);
      }
    }
  }

  /** The version that the engine says it has; undefined where it does not tell. */
  async #reported(): Promise<number | undefined> {
    for (let tries = 0; ; tries++) {
      try {
        return await this.remote.reportedVersion();
      } catch (error) {
        if (!isGone(error) && !isBusy(error)) throw error;
        if (error.fault === 'unreachable' || tries >= MOST_TRIES) return undefined;
        if (isBusy(error)) await this.pause();
      }
    }
  }

  /**
   * Waits until the engine says that it is well. One that drains does not.
   *
   * @returns whether it was away at all
   * @throws EngineError if it is not back in time
   */
  async #untilThere(isAway: boolean): Promise<boolean> {
    const { returnSeconds } = this.#options;
    const { http } = this.remote;
    const until = Date.now() + 1000 * returnSeconds;
    for (let wasAway = isAway; ; wasAway = true) {
      let cause: EngineError | undefined;
      try {
        if (await http.has('/health')) return wasAway;
      } catch (error) {
        if (!(error instanceof EngineError && error.isTransient)) throw error;
        cause = error;
      }
      if (this.#isClosed || Date.now() > until) {
        throw new EngineError(
          cause?.fault ?? 'overloaded',
          `${http.url} was away for ${returnSeconds} seconds. Start it again, then continue the ` +
            `run with --resume. ${cause?.message ?? 'It does not say at /health that it is well.'}`,
          { cause },
        );
      }
      await this.pause();
    }
  }
}
