/** A session on another machine. Each call is sent once: one that may have run is never run again. */
import { StateError } from '@saccade/core';
import { HttpError } from '@saccade/http';
import type { Outcome } from '../outcome.ts';
import { outcomeFromJson } from '../outcome-json.ts';
import { silentOutcome } from '../result.ts';
import type { ExecuteOptions, Session } from '../session.ts';
import { codeOf, type SandboxHost } from './host.ts';

/** Seconds in which a server should hear that a session is over. */
const CLOSE_SECONDS = 10;

/** Pauses before a call that was surely not started is sent again. */
const pausesMs = [50, 200, 500, 1_000, 2_000, 4_000];

export class RemoteSession implements Session {
  readonly #host: SandboxHost;
  readonly #id: string;
  readonly #tier: string;
  readonly #onEnd: () => void;
  #last: Promise<unknown> = Promise.resolve();
  /** Why it runs no more code. */
  #loss: string | undefined;
  #disposal: Promise<void> | undefined;
  #isClosed = false;

  constructor(host: SandboxHost, id: string, tier: string, onEnd: () => void) {
    this.#host = host;
    this.#id = id;
    this.#tier = tier;
    this.#onEnd = onEnd;
  }

  execute(code: string, options: ExecuteOptions = {}): Promise<Outcome> {
    const run = this.#last.then(() => this.#execute(code, options));
    this.#last = run.catch(() => {});
    return run;
  }

  async #execute(code: string, { signal, wallSeconds }: ExecuteOptions): Promise<Outcome> {
    signal?.throwIfAborted();
    if (this.#disposal !== undefined) {
      throw new StateError('This sandbox session is disposed. Open a new one to execute code.');
    }
    if (this.#loss !== undefined) return this.#lost(this.#loss);
    const path = `/v1/sessions/${this.#id}/execute`;
    for (let attempt = 0; ; attempt++) {
      try {
        const body = { code, wallSeconds };
        const answer = await this.#host.call({
          ...{ method: 'POST', path, body },
          ...(signal && { signal }),
        });
        const outcome = this.#read(answer);
        if (outcome.kind === 'infraError') this.#loss = outcome.error?.message ?? '';
        return { ...outcome, tier: this.#tier };
      } catch (error) {
        if (signal?.aborted) {
          this.#loss = 'The caller gave up an execution.';
          throw error;
        }
        if (error instanceof HttpError && error.fault === 'garbled') this.#host.blame(error);
        const pause = pausesMs[attempt];
        if (codeOf(error) === 'queue-full' && pause !== undefined) {
          await new Promise((wake) => setTimeout(wake, pause));
          continue;
        }
        this.#loss = error instanceof Error ? error.message : String(error);
        return this.#lost(this.#loss);
      }
    }
  }

  /** @throws HttpError if it is no outcome */
  #read(answer: unknown): Outcome {
    try {
      return outcomeFromJson((answer as { outcome?: unknown } | null | undefined)?.outcome);
    } catch (cause) {
      const reason = 'its answer is no outcome of an execution';
      const message = `${this.#host.url}: ${reason}. Check what listens there.`;
      throw new HttpError('garbled', message, { mayHaveRun: true, reason, cause });
    }
  }

  #lost(reason: string): Outcome {
    const message = `The session is lost. ${reason} Open a new one and try again.`;
    return silentOutcome({ kind: 'infraError', message }, this.#tier);
  }

  /** Ends it for a reason that its caller did not give. */
  async lose(reason: string): Promise<void> {
    this.#loss ??= reason;
    await this.#close();
  }

  dispose(): Promise<void> {
    this.#disposal ??= this.#close();
    return this.#disposal;
  }

  /** If the server does not hear of this, it closes the session when it is idle for long. */
  async #close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    try {
      const signal = AbortSignal.timeout(1000 * CLOSE_SECONDS);
      await this.#host.call({ method: 'DELETE', path: `/v1/sessions/${this.#id}`, signal });
    } catch {
      // Gone already, and its sessions with it.
    } finally {
      this.#onEnd();
    }
  }
}
