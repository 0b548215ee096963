/** One server that runs sandboxes: its requests, its health, and when it is left alone. */
import { HttpClient, HttpError } from '@saccade/http';
import { type PatientFetch, patientFetch } from '@saccade/http/patient-fetch';
import { askForHealth, type HostHealth } from './host-health.ts';

/**
 * What is known of a server: `healthy` takes sessions, `draining` keeps those that it has, and `away`
 * does not answer, or not as a sandbox does.
 */
export type HostState = 'healthy' | 'draining' | 'away';

/** A server of a remote sandbox, as its client sees it. */
export interface HostReport {
  readonly url: string;
  readonly state: HostState;
  /** Why it is not healthy, as a clause. */
  readonly reason?: string;
  /** Sessions that this client has there. */
  readonly sessions: number;
  /** Sessions of all clients per execution that it runs at a time. */
  readonly load: number;
}

export interface HostOptions {
  readonly url: string;
  readonly token?: string;
  /** By what the server tells callers apart when they wait. */
  readonly caller?: string;
  /** Calls of a server that is silent for this long are given up. */
  readonly lostSeconds: number;
  /** Longest time for which a server with useless answers is left alone. */
  readonly asideSeconds: number;
  /** Told of every change of the state. */
  readonly onChange?: (report: HostReport) => void;
}

/** One request; `isRepeatable` says that another server may be asked instead. */
export interface HostCall {
  readonly method: 'GET' | 'POST' | 'DELETE';
  readonly path: string;
  readonly body?: unknown;
  readonly signal?: AbortSignal;
  readonly isRepeatable?: boolean;
}

/** Openings that failed in a row before a server that works otherwise is left alone. */
const MOST_FAILURES = 3;
const FIRST_PAUSE_MS = 1000;

export class SandboxHost {
  readonly url: string;
  /** Sessions that this client has there. */
  sessions = 0;
  readonly #options: HostOptions;
  readonly #patient: PatientFetch = patientFetch();
  readonly #client: HttpClient;
  /** Calls under way, and whether each may be sent elsewhere instead. */
  readonly #calls = new Map<AbortController, boolean>();
  #state: HostState = 'away';
  #reason: string | undefined = 'it was not asked yet';
  #health: HostHealth | undefined;
  /** Sessions of other clients at the last look. */
  #others = 0;
  #isChecking = false;
  /** Seconds without an answer, by looks that were not late themselves. */
  #silentSeconds = 0;
  /** Useless answers since the last session that was opened. */
  #failures = 0;
  /** Until then it is left alone, whatever it says of its health. */
  #asideUntil = 0;

  constructor(options: HostOptions) {
    const { url, token, caller } = options;
    this.url = url;
    this.#options = options;
    this.#client = new HttpClient({
      baseUrl: url,
      fetch: this.#patient.fetch,
      // Calls may wait long for their turn: no time limit but the caller's, and that of a server that
      // falls silent. Its caller alone knows whether another may be asked: nothing is sent twice here.
      ...{ timeoutSeconds: Number.POSITIVE_INFINITY, retries: 0 },
      ...(token !== undefined && { token }),
      ...(caller !== undefined && { headers: { 'x-saccade-caller': caller } }),
    });
  }

  get state(): HostState {
    return this.#state;
  }

  /** Sessions of all clients, as far as they are known, per execution that it runs at a time. */
  get load(): number {
    return (this.sessions + this.#others) / (this.#health?.capacity?.executions ?? 1);
  }

  /** What one more session adds to the load. */
  get share(): number {
    return 1 / (this.#health?.capacity?.executions ?? 1);
  }

  report(): HostReport {
    const { url, sessions, load } = this;
    const reason = this.#reason;
    return { url, state: this.#state, sessions, load, ...(reason !== undefined && { reason }) };
  }

  /**
   * Looks at the server's health; calls of a server that is gone are given up.
   *
   * @returns its report, if it takes sessions
   */
  async check(seconds: number): Promise<HostHealth | undefined> {
    if (this.#isChecking) return undefined;
    this.#isChecking = true;
    const began = performance.now();
    const answer = await askForHealth(this.#client, AbortSignal.timeout(seconds * 1000));
    this.#isChecking = false;
    const tookSeconds = (performance.now() - began) / 1000;
    if (typeof answer === 'string') {
      // This process was busy itself, so that the time says nothing about the server.
      if (tookSeconds > 1.5 * seconds) return undefined;
      this.#silentSeconds += Math.max(tookSeconds, seconds);
      this.#move('away', answer);
      const isLost = this.#silentSeconds >= this.#options.lostSeconds;
      this.#giveUp(`${this.url} is away`, answer, isLost);
      return undefined;
    }
    this.#onHealth(answer);
    return this.#state === 'healthy' ? answer : undefined;
  }

  #onHealth(health: HostHealth): void {
    this.#silentSeconds = 0;
    const before = this.#health?.instance;
    this.#health = health;
    const { open = 0, waiting = 0 } = health.stats ?? {};
    this.#others = Math.max(0, open + waiting - this.sessions);
    if (before !== undefined && before !== health.instance) {
      // A machine that lost its power closes no connection: its calls would wait for good.
      this.#giveUp(this.url, 'it was started again, without its sessions', true);
      this.#asideUntil = 0;
    }
    if (health.status === 'draining') this.#move('draining', 'it is draining');
    else if (performance.now() >= this.#asideUntil) this.#move('healthy');
  }

  #move(state: HostState, reason?: string): void {
    const isNew = this.#state !== state;
    this.#state = state;
    this.#reason = reason;
    if (isNew) this.#options.onChange?.(this.report());
  }

  /** Ends calls that another server can have, or all of them. */
  #giveUp(what: string, reason: string, all: boolean): void {
    const message = `${what}: ${reason}.`;
    for (const [controller, isRepeatable] of this.#calls) {
      if (!all && !isRepeatable) continue;
      controller.abort(new HttpError('timeout', message, { mayHaveRun: true, reason }));
    }
  }

  /** @throws HttpError, or the signal's reason */
  async call({ method, path, body, signal, isRepeatable = false }: HostCall): Promise<unknown> {
    const controller = new AbortController();
    this.#calls.set(controller, isRepeatable);
    const signals = signal === undefined ? [] : [signal];
    try {
      return await this.#client.json({
        ...{ method, path, signal: AbortSignal.any([controller.signal, ...signals]) },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      });
    } catch (error) {
      if (!(error instanceof HttpError)) throw error;
      if (codeOf(error) === 'draining') this.#move('draining', 'it is draining');
      else if (error.fault === 'unreachable') this.#move('away', error.reason);
      throw error;
    } finally {
      this.#calls.delete(controller);
    }
  }

  /** A session was opened: what failed before is forgiven. */
  praise(): void {
    this.#failures = 0;
  }

  /** Leaves the server alone for a while after an answer that cannot be used. */
  blame(error: HttpError): void {
    if (error.fault === 'overloaded' || codeOf(error) === 'draining') return;
    this.#failures += 1;
    // One request may be at fault where the server itself says that it failed.
    const isExcused = error.fault === 'failed' && this.#failures < MOST_FAILURES;
    if (isExcused) return;
    const most = 1000 * this.#options.asideSeconds;
    const pause = Math.min(most, FIRST_PAUSE_MS * 2 ** Math.min(this.#failures - 1, 30));
    this.#asideUntil = performance.now() + pause;
    this.#move('away', error.reason);
  }

  async dispose(): Promise<void> {
    await this.#patient.dispose();
  }
}

/** The code of a server's refusal; undefined where there was none. */
export function codeOf(error: unknown): string | undefined {
  return error instanceof HttpError ? error.refusal?.code : undefined;
}
