/** One tool service as its clients see it: what tools it has, calls alone or together, retries. */
import { randomUUID } from 'node:crypto';
import { ConfigError, MissingError, messageOf } from '@saccade/core';
import { HttpClient, HttpError } from '@saccade/http';
import { type PatientFetch, patientFetch } from '@saccade/http/patient-fetch';
import { type Outcome, outcomeFromJson } from '@saccade/sandbox';
import { MOST_IMAGE_PIXELS, ToolError } from '@saccade/tools';
import pLimit, { type LimitFunction } from 'p-limit';
import type { z } from 'zod';
import { checkOutcome } from '../places/check-outcome.ts';
import {
  type BatchAnswer,
  batchAnswerSchema,
  callAnswerSchema,
  type callRequestSchema,
  type DescribedTool,
  MOST_CALLS,
  toolListSchema,
  WIRE_VERSION,
} from '../wire.ts';
import { CallGatherer, type Gathered } from './call-gatherer.ts';
import { untilAborted } from './until-aborted.ts';

/** How a tool service is asked. */
export interface ToolConnectionOptions {
  /** Where it listens, e.g. `http://10.0.0.5:8720`. */
  readonly url: string;
  /** Its bearer token. */
  readonly token?: string;
  /** Time for one call with all its tries. Default 60. */
  readonly timeoutSeconds?: number;
  /** Requests at a time; more wait, within their time. Default 64. */
  readonly maxInFlight?: number;
  /** Calls of one request. Default 1: a batch is answered when its slowest call is. */
  readonly maxBatch?: number;
  /** How long the first call of a batch waits for others. Default 2. */
  readonly maxWaitMs?: number;
  /** Tries after the first of a call that failed in the service. Default 1. */
  readonly retries?: number;
}

/** The body of a call, and which tool it is of. */
export type SentCall = z.input<typeof callRequestSchema> & { readonly tool: string };

/** Tries of what the service surely did not act on: about 25 seconds of pauses. */
const TRANSPORT_RETRIES = 8;
/** A service that is not there when a run begins is rather a wrong address. */
const FIRST_RETRIES = 3;
const LONGEST_PAUSE_SECONDS = 5;

/** The faults that a retry may fix: not a bad request, nor a missed deadline. */
const RETRIED: readonly unknown[] = ['tool-failed', 'tool-garbled', 'tool-crashed', 'tool-stopped'];

export class ToolConnection {
  readonly url: string;
  readonly #client: HttpClient;
  readonly #first: HttpClient;
  readonly #patient: PatientFetch = patientFetch();
  readonly #limit: LimitFunction;
  readonly #timeoutMs: number;
  readonly #retries: number;
  /** The last try of any call that failed on the way, and when. */
  #lastProblem: { readonly at: number; readonly reason: string } | undefined;
  readonly #gatherer: CallGatherer<SentCall, BatchAnswer>;
  #described: Promise<readonly DescribedTool[]> | undefined;

  /** @throws ConfigError for an address or number that cannot be */
  constructor(options: ToolConnectionOptions) {
    const { url, token, timeoutSeconds = 60, maxInFlight = 64 } = options;
    const { maxBatch = 1, maxWaitMs = 2, retries = 1 } = options;
    expectWhole('maxInFlight', maxInFlight, 1, 100_000);
    expectWhole('maxBatch', maxBatch, 1, MOST_CALLS);
    expectWhole('retries', retries, 0, 100);
    if (!(timeoutSeconds > 0 && timeoutSeconds <= 86_400)) {
      const message = `timeoutSeconds: expected 0 to 86400 seconds, got ${timeoutSeconds}.`;
      throw new ConfigError('timeoutSeconds', message);
    }
    const client = {
      ...{ baseUrl: url, timeoutSeconds, longestPauseSeconds: LONGEST_PAUSE_SECONDS },
      ...{ fetch: this.#patient.fetch, ...(token !== undefined && { token }) },
    };
    const onRetry = ({ reason }: HttpError): void => {
      this.#lastProblem = { at: performance.now(), reason };
    };
    this.#client = new HttpClient({ ...client, retries: TRANSPORT_RETRIES, onRetry });
    this.#first = new HttpClient({ ...client, retries: FIRST_RETRIES });
    this.url = this.#client.url;
    this.#limit = pLimit(maxInFlight);
    this.#timeoutMs = timeoutSeconds * 1000;
    this.#retries = retries;
    this.#gatherer = new CallGatherer({
      ...{ maxBatch, maxWaitMs },
      send: (calls, signal) => this.#sendTogether(calls, signal),
    });
  }

  /**
   * The tools that the service had when it was first asked.
   *
   * @throws MissingError if it does not answer, ConfigError if it is something else or another version
   */
  describe(): Promise<readonly DescribedTool[]> {
    this.#described ??= this.#describe().catch((error: unknown) => {
      this.#described = undefined;
      throw error;
    });
    return this.#described;
  }

  async #describe(): Promise<readonly DescribedTool[]> {
    let answer: unknown;
    try {
      answer = await this.#first.json({ method: 'GET', path: '/v1/tools' });
    } catch (error) {
      const isOther = error instanceof HttpError && ['refused', 'garbled'].includes(error.fault);
      const message = `The tools of ${this.url} cannot be listed: ${messageOf(error)}`;
      throw isOther ? new ConfigError('url', message) : new MissingError(message, { cause: error });
    }
    const { wire } = (answer ?? {}) as { readonly wire?: unknown };
    if (typeof wire === 'number' && wire !== WIRE_VERSION) {
      throw new ConfigError(
        'url',
        `The service at ${this.url} speaks version ${wire} of the protocol, and this client ` +
          `version ${WIRE_VERSION}. Use the same release of Saccade on both sides.`,
      );
    }
    const parsed = toolListSchema.safeParse(answer);
    if (parsed.success) return parsed.data.tools;
    const [issue] = parsed.error.issues;
    throw new ConfigError(
      'url',
      `What ${this.url} says of its tools does not fit at "${issue?.path.join('.')}": ` +
        `${issue?.message}. Check that it is a tool service of Saccade.`,
    );
  }

  /**
   * One call, sent again where that is safe, within its time.
   *
   * @throws ToolError for whatever is not an outcome; the signal's reason if it is aborted
   */
  async call(call: SentCall, signal?: AbortSignal): Promise<Outcome> {
    signal?.throwIfAborted();
    const began = performance.now();
    const limit = AbortSignal.timeout(this.#timeoutMs);
    const both = signal === undefined ? limit : AbortSignal.any([signal, limit]);
    const sent = { ...call, deadlineMs: this.#timeoutMs };
    try {
      for (let tries = 0; ; tries++) {
        try {
          return await this.#once(sent, both);
        } catch (error) {
          both.throwIfAborted();
          if (tries >= this.#retries || !isWorthATry(error)) throw error;
        }
      }
    } catch (error) {
      signal?.throwIfAborted();
      if (limit.aborted) {
        const seconds = this.#timeoutMs / 1000;
        const { at = 0, reason = '' } = this.#lastProblem ?? {};
        const why = at > began ? ` The last request failed: ${reason}.` : '';
        const message = `${call.tool} of ${this.url} gave no outcome within ${seconds} s.${why}`;
        throw new ToolError(message, { cause: error });
      }
      const reason = error instanceof HttpError ? error.reason : messageOf(error);
      throw new ToolError(`${call.tool} of ${this.url} failed: ${reason}`, { cause: error });
    }
  }

  async dispose(): Promise<void> {
    await this.#patient.dispose();
  }

  async #once(call: SentCall, signal: AbortSignal): Promise<Outcome> {
    const answer = await this.#gatherer.send(call, signal);
    if ('error' in answer) throw new CallRefused(answer);
    return readOutcome(answer.outcome);
  }

  /** Sends one call alone, or several as one request; each has its answer. */
  async #sendTogether(
    calls: readonly SentCall[],
    signal: AbortSignal,
  ): Promise<readonly Gathered<BatchAnswer>[]> {
    return await untilAborted(
      this.#limit(async () => {
        signal.throwIfAborted();
        const [only, second] = calls;
        if (only === undefined) return [];
        const idempotencyKey = randomUUID();
        if (second === undefined) {
          const { tool, ...body } = only;
          const path = `/v1/tools/${encodeURIComponent(tool)}`;
          const request = { path, body: JSON.stringify(body), signal, idempotencyKey };
          const json = await this.#client.json({ method: 'POST', ...request });
          const { outcome, isCached } = fitting(callAnswerSchema, json);
          return [{ value: { status: 200, outcome, isCached } }];
        }
        const request = { path: '/v1/batch', body: JSON.stringify({ calls }), signal };
        const json = await this.#client.json({ method: 'POST', ...request, idempotencyKey });
        const { answers } = fitting(batchAnswerSchema, json);
        if (answers.length === calls.length) return answers.map((value) => ({ value }));
        throw new ToolError(`It gave ${answers.length} answers to ${calls.length} calls.`);
      }),
      signal,
    );
  }
}

/** One call of a batch that was refused. */
class CallRefused extends ToolError {
  readonly status: number;
  readonly reason: string;

  constructor({ status, error }: Extract<BatchAnswer, { error: unknown }>) {
    super(`It answered ${status}: ${error.fact} ${error.remedy}`);
    this.status = status;
    this.reason = error.code;
  }
}

/** Whether the same call may end otherwise: it failed in the service, or was turned away in a batch. */
function isWorthATry(error: unknown): boolean {
  if (error instanceof CallRefused) {
    return error.status === 429 || error.status === 503 || RETRIED.includes(error.reason);
  }
  if (!(error instanceof HttpError) || error.fault === 'refused') return false;
  return error.refusal === undefined ? error.isTransient : RETRIED.includes(error.refusal.code);
}

/** @throws ToolError where the answer has another form */
function fitting<Schema extends z.ZodType>(schema: Schema, answer: unknown): z.output<Schema> {
  const parsed = schema.safeParse(answer);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const place = issue?.path.map(String).join('.') || 'the whole';
  throw new ToolError(`Its answer does not fit at ${place}: ${issue?.message}.`);
}

/** @throws ToolError for an outcome whose images are none */
function readOutcome(json: unknown): Outcome {
  try {
    return checkOutcome(outcomeFromJson(json), MOST_IMAGE_PIXELS);
  } catch (error) {
    throw new ToolError(`Its answer is no outcome: ${messageOf(error)}`, { cause: error });
  }
}

function expectWhole(field: string, value: number, least: number, most: number): void {
  if (Number.isInteger(value) && value >= least && value <= most) return;
  throw new ConfigError(field, `${field}: expected ${least} to ${most}, got ${value}.`);
}
