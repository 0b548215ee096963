/** One server that runs sandboxes: its requests, its health. */
import { messageOf } from '@saccade/core';
import { Agent } from 'undici';
import { z } from 'zod';

/** Why a call has no result. */
export class HostFailure extends Error {
  /** Surely nothing was started, so that another host may be asked. */
  readonly isUntouched: boolean;
  readonly code: string;

  constructor(message: string, details: { isUntouched: boolean; code: string; cause?: unknown }) {
    super(message, { cause: details.cause });
    this.isUntouched = details.isUntouched;
    this.code = details.code;
  }
}

export interface HostHealth {
  readonly tier: string;
}

const health = z.object({ status: z.string(), tier: z.string() });
const refusal = z.object({
  error: z.object({ code: z.string(), fact: z.string(), remedy: z.string() }),
});

/** The connection was never made: the server has seen nothing. */
const unreached: readonly unknown[] = [
  'ECONNREFUSED',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
  'UND_ERR_CONNECT_TIMEOUT',
];
/** Refusals that say: not started. */
const untouchedCodes: readonly unknown[] = ['queue-full', 'draining'];

export interface HostOptions {
  readonly url: string;
  readonly token?: string;
  /** By what the server tells callers apart when they wait. */
  readonly caller?: string;
}

export class SandboxHost {
  readonly url: string;
  isHealthy = false;
  /** Sessions that this client has there. */
  sessions = 0;
  readonly #headers: Readonly<Record<string, string>>;
  /** Calls may wait long for their turn: no time limit but the caller's. */
  readonly #agent = new Agent({ headersTimeout: 0, bodyTimeout: 0, connectTimeout: 5_000 });

  constructor({ url, token, caller }: HostOptions) {
    this.url = url.replace(/\/+$/, '');
    this.#headers = {
      'content-type': 'application/json',
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
      ...(caller !== undefined && { 'x-saccade-caller': caller }),
    };
  }

  /** What the server says of itself; undefined, and not healthy, if it does not answer well. */
  async check(signal: AbortSignal): Promise<HostHealth | undefined> {
    try {
      const answer = health.parse(await this.call('GET', '/health', undefined, signal));
      this.isHealthy = answer.status === 'healthy';
      return this.isHealthy ? answer : undefined;
    } catch {
      this.isHealthy = false;
      return undefined;
    }
  }

  /** @throws HostFailure, or the signal's reason */
  async call(
    method: 'GET' | 'POST' | 'DELETE',
    path: string,
    body: unknown,
    signal?: AbortSignal,
  ): Promise<unknown> {
    signal?.throwIfAborted();
    let status: number;
    let text: string;
    try {
      const response = await this.#agent.request({
        ...{ origin: this.url, path: `${new URL(this.url).pathname.replace(/\/$/, '')}${path}` },
        ...{ method, headers: this.#headers, signal: signal ?? null },
        body: body === undefined ? null : JSON.stringify(body),
      });
      status = response.statusCode;
      text = await response.body.text();
    } catch (error) {
      signal?.throwIfAborted();
      const code = codeOf(error);
      const isUntouched = unreached.includes(code);
      if (isUntouched) this.isHealthy = false;
      const message = `The sandbox at ${this.url} did not answer: ${messageOf(error)}.`;
      throw new HostFailure(message, { isUntouched, code: String(code), cause: error });
    }
    const answer = parseJson(text);
    if (status < 300) return answer;
    const { data } = refusal.safeParse(answer);
    const code = data?.error.code ?? `status-${status}`;
    if (code === 'draining') this.isHealthy = false;
    const why = data === undefined ? `status ${status}` : `${data.error.fact} ${data.error.remedy}`;
    throw new HostFailure(`The sandbox at ${this.url} refused: ${why}`, {
      isUntouched: untouchedCodes.includes(code),
      code,
    });
  }

  async dispose(): Promise<void> {
    await this.#agent.destroy();
  }
}

function codeOf(error: unknown): unknown {
  for (let at = error; at instanceof Error; at = at.cause) {
    if ('code' in at && at.code !== undefined) return at.code;
  }
  return 'unknown';
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
