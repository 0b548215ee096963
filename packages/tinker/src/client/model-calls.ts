/**
 * The calls of one model in order: contiguous sequence numbers, the same bytes after a lost answer,
 * long polls for results, and a bound on calls in flight.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from '@saccade/core/settings';
import { HttpError } from '@saccade/http';
import { encodeBody } from '../wire/bodies.ts';
import type { ImageBlob } from '../wire/image-blob.ts';
import { TinkerError } from '../wire/tinker-error.ts';
import { categoryOf, codeOf, type TinkerTransport } from './transport.ts';

/** How long calls may take, and how they travel. */
export interface CallLimits {
  /** Time limit of one call, its waiting included. Default 3600. */
  readonly deadlineSeconds: number;
  /** Time in which a server that does not answer must come back. Default 300. */
  readonly returnSeconds: number;
  /** Most calls that wait for their results at once. Default 16. */
  readonly maxInFlight: number;
  /** Pause between looks for a server that does not answer. Default 0.5. */
  readonly lookSeconds: number;
}

export const callLimits: CallLimits = {
  deadlineSeconds: 3600,
  returnSeconds: 300,
  maxInFlight: 16,
  lookSeconds: 0.5,
};

/** Longest poll that is asked for, in seconds. */
const POLL_SECONDS = 30;

/** Times that the pause after a failure of a server that is there doubles. */
const MOST_DOUBLINGS = 6;
const submitted = z.looseObject({ request_id: z.coerce.string() });
const state = z.looseObject({ type: z.string().optional() });

/** What a server's answers are like. */
export interface ServerForm {
  /** Whether it takes and gives binary bodies. */
  readonly isBinary: boolean;
  /** Whether it is one of ours: it may be told how long to poll. */
  readonly isOurs: boolean;
}

/** Uploads what an answer says is missing. */
export type OnMissing = (hashes: readonly string[]) => Promise<void>;

/** Futures of a server, with or without a model's order. */
export class Futures {
  readonly transport: TinkerTransport;
  readonly form: ServerForm;
  readonly limits: CallLimits;
  #inFlight = 0;
  #isClosed = false;
  readonly #waiting: (() => void)[] = [];

  constructor(transport: TinkerTransport, form: ServerForm, limits: CallLimits) {
    this.transport = transport;
    this.form = form;
    this.limits = limits;
  }

  /**
   * Lets no call wait any longer for a server that is away: another connection takes its place, or none.
   * Otherwise a process would live on for what nobody waits for.
   */
  close(): void {
    this.#isClosed = true;
  }

  /** Sends a call that has no place in a model's order, and waits for its result. */
  async call(path: string, body: object, signal?: AbortSignal): Promise<unknown> {
    return await this.bounded(async () => {
      const until = Date.now() + 1000 * this.limits.deadlineSeconds;
      return await this.result(await this.submit(path, body, until), until, signal);
    });
  }

  /** Runs something once fewer than the bound run. */
  async bounded<Result>(run: () => Promise<Result>): Promise<Result> {
    while (this.#inFlight >= this.limits.maxInFlight) {
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
    this.#inFlight++;
    try {
      return await run();
    } finally {
      this.#inFlight--;
      this.#waiting.shift()?.();
    }
  }

  /** Sends the bytes of an image. */
  async upload({ sha256, contentType, bytes }: ImageBlob): Promise<void> {
    await this.patiently(() => this.transport.put(`/blobs/${sha256}`, { contentType, bytes }));
  }

  /** Submits a call until the server has accepted it; gives the id of its future. */
  async submit(
    path: string,
    body: object,
    until: number,
    onMissing?: OnMissing,
  ): Promise<string | { readonly result: unknown }> {
    const encoded = encodeBody(body, this.form.isBinary ? 'binary' : 'json');
    for (;;) {
      try {
        const post = () => this.transport.post({ path, body: encoded });
        const answer = await this.patiently(post, until);
        const parsed = submitted.safeParse(answer);
        // Some servers answer what takes no time at once.
        return parsed.success ? parsed.data.request_id : { result: answer };
      } catch (error) {
        const missing = missingIn(error);
        if (missing === undefined || onMissing === undefined) throw error;
        await onMissing(missing);
        expectTime(until, path);
      }
    }
  }

  /** Waits for the result of a future. @throws TinkerError if it failed */
  async result(
    future: string | { readonly result: unknown },
    until: number,
    signal?: AbortSignal,
  ): Promise<unknown> {
    if (typeof future !== 'string') return future.result;
    const { isOurs, isBinary } = this.form;
    for (;;) {
      expectTime(until, `the future ${future}`);
      const seconds = Math.max(0.05, Math.min(POLL_SECONDS, (until - Date.now()) / 1000));
      const body = { request_id: future, ...(isOurs && { timeout_seconds: seconds }) };
      const post = () =>
        this.transport.post({
          path: '/retrieve_future',
          body: encodeBody(body, 'json'),
          takesBinary: isBinary,
          ...(signal !== undefined && { signal }),
        });
      const answer = await this.patiently(post, until);
      const { type } = state.parse(answer ?? {});
      if (type === 'try_again') {
        if (!isOurs) await sleep(20);
        continue;
      }
      if (type === 'request_failed' || type === 'RequestFailed') throw failureOf(answer as object);
      return answer;
    }
  }

  /**
   * Repeats a request that is safe to repeat while the network or the server is away.
   *
   * @throws TinkerError `lost-worker` once another server answers in its place, or none in time
   */
  async patiently<Result>(
    send: () => Promise<Result>,
    until: number = Date.now() + 1000 * this.limits.deadlineSeconds,
  ): Promise<Result> {
    for (let failures = 0; ; ) {
      try {
        return await send();
      } catch (error) {
        if (!(error instanceof HttpError) || !error.isTransient) throw error;
        failures++;
        // A server that is there and fails again and again will not mend itself. By 408 it says only
        // that a result is not there yet.
        if (error.fault === 'failed' && error.status !== 408 && failures > 5) {
          throw new TinkerError('server', error.message, { cause: error });
        }
        expectTime(until, error.message);
        // By 408 it waited already.
        if (error.status !== undefined && error.status !== 408) await this.#pause(failures);
        await this.#untilBack(error);
      }
    }
  }

  /** Longer with every failure of a server that is there, and could be asked at once. */
  async #pause(failures: number): Promise<void> {
    const looks = 2 ** Math.min(failures - 1, MOST_DOUBLINGS);
    await sleep(1000 * this.limits.lookSeconds * looks * (0.5 + Math.random()));
  }

  /** Waits until a server answers at all. */
  async untilThere(): Promise<void> {
    await this.#untilBack(
      new HttpError('unreachable', 'nothing answered', { mayHaveRun: false, reason: 'no answer' }),
    );
  }

  async #untilBack(cause: HttpError): Promise<void> {
    const { returnSeconds, lookSeconds } = this.limits;
    const until = Date.now() + 1000 * returnSeconds;
    for (;;) {
      if (this.#isClosed) {
        throw new TinkerError('server', `The connection to ${this.transport.url} was closed.`, {
          code: 'lost-worker',
          cause,
        });
      }
      try {
        await this.transport.get('/healthz', Math.max(1, 10 * lookSeconds));
        return;
      } catch (error) {
        if (error instanceof TinkerError) {
          if (error.isLoss) throw error;
          // A server without this route answers all the same.
          return;
        }
        if (Date.now() > until) {
          const { reason } = error instanceof HttpError ? error : cause;
          throw new TinkerError(
            'server',
            `${this.transport.url} was away for ${returnSeconds} seconds: ${reason}. Start it, or ` +
              'check the address.',
            { code: 'deadline', cause },
          );
        }
        await sleep(1000 * lookSeconds * (0.5 + Math.random()));
      }
    }
  }
}

/** The calls of a model. A call is sent once the one before it is accepted. */
export class ModelCalls {
  readonly modelId: string;
  readonly #futures: Futures;
  #next = 1;
  #line: Promise<unknown> = Promise.resolve();

  constructor(modelId: string, futures: Futures) {
    this.modelId = modelId;
    this.#futures = futures;
  }

  /**
   * Sends a call in its order and waits for its result.
   *
   * @param onMissing uploads images that the server asks for
   * @returns the result, and the id of the future that it was
   */
  async call(
    path: string,
    body: object,
    onMissing?: OnMissing,
  ): Promise<{ readonly result: unknown; readonly requestId: string }> {
    const futures = this.#futures;
    return await futures.bounded(async () => {
      const until = Date.now() + 1000 * futures.limits.deadlineSeconds;
      const accepted = this.#line.then(async () => {
        const whole = { model_id: this.modelId, seq_id: this.#next, ...body };
        const future = await futures.submit(path, whole, until, onMissing);
        // A call that was refused has no place in the order.
        this.#next++;
        return future;
      });
      this.#line = accepted.catch(() => undefined);
      const future = await accepted;
      const result = await futures.result(future, until);
      return { result, requestId: typeof future === 'string' ? future : '' };
    });
  }
}

function missingIn(error: unknown): readonly string[] | undefined {
  if (!(error instanceof TinkerError) || error.fault !== 'missing-blobs') return undefined;
  const { missing = error.fields.sha256 } = error.fields;
  return Array.isArray(missing) ? missing.filter((one) => typeof one === 'string') : [];
}

function failureOf(answer: object): TinkerError {
  const { error, category, code, type: _, ...fields } = answer as Record<string, unknown>;
  const said = typeof error === 'string' ? error : JSON.stringify(error);
  return new TinkerError(categoryOf(category ?? 'server'), `The learner failed: ${said}`, {
    code: codeOf(code, 200),
    fields,
  });
}

function expectTime(until: number, what: string): void {
  if (Date.now() < until) return;
  throw new TinkerError('server', `${what} took longer than its deadline. Raise deadlineSeconds.`, {
    code: 'deadline',
  });
}
