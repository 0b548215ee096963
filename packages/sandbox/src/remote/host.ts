/** One server that runs sandboxes: its requests, its health. */
import { HttpClient, HttpError } from '@saccade/http';
import { type PatientFetch, patientFetch } from '@saccade/http/patient-fetch';
import { z } from 'zod';

export interface HostHealth {
  readonly tier: string;
}

const health = z.object({ status: z.string(), tier: z.string() });

export interface HostOptions {
  readonly url: string;
  readonly token?: string;
  /** By what the server tells callers apart when they wait. */
  readonly caller?: string;
}

export class SandboxHost {
  isHealthy = false;
  /** Sessions that this client has there. */
  sessions = 0;
  readonly #patient: PatientFetch = patientFetch();
  readonly #client: HttpClient;

  constructor({ url, token, caller }: HostOptions) {
    this.#client = new HttpClient({
      baseUrl: url,
      fetch: this.#patient.fetch,
      // Calls may wait long for their turn: no time limit but the caller's. Its caller alone knows
      // whether another host may be asked, so nothing is sent twice here.
      ...{ timeoutSeconds: Number.POSITIVE_INFINITY, retries: 0 },
      ...(token !== undefined && { token }),
      ...(caller !== undefined && { headers: { 'x-saccade-caller': caller } }),
    });
  }

  /** The server's health report; undefined, and marked as unhealthy, if it does not answer well. */
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

  /** @throws HttpError, or the signal's reason */
  async call(
    method: 'GET' | 'POST' | 'DELETE',
    path: string,
    body: unknown,
    signal?: AbortSignal,
  ): Promise<unknown> {
    try {
      return await this.#client.json({
        ...{ method, path },
        ...(body !== undefined && { body: JSON.stringify(body) }),
        ...(signal !== undefined && { signal }),
      });
    } catch (error) {
      const isGone = error instanceof HttpError && error.fault === 'unreachable';
      if (isGone || codeOf(error) === 'draining') this.isHealthy = false;
      throw error;
    }
  }

  async dispose(): Promise<void> {
    await this.#patient.dispose();
  }
}

/** The code of a server's refusal; undefined where there was none. */
export function codeOf(error: unknown): string | undefined {
  return error instanceof HttpError ? error.refusal?.code : undefined;
}
