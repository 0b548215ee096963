/** The sandbox of this machine: sessions behind one fork server, which is replaced if it dies. */
import { DataError, StateError } from '@saccade/core';
import { type Guarantees, guaranteesOf, type IsolationReport } from './guarantees.ts';
import { Permits } from './permits.ts';
import type { PythonSession } from './python-session.ts';
import { type LinkOptions, ServerLink } from './server-link.ts';
import type { Sandbox, Session, SessionOptions } from './session.ts';

export interface LocalSandboxParts {
  readonly link: LinkOptions;
  /** The server that is running already. */
  readonly first: ServerLink;
  readonly maxSessions: number;
  readonly counters: { executions: number };
  readonly warnings: readonly string[];
}

export interface SandboxStats {
  /** Sessions with a living process. */
  readonly open: number;
  readonly waiting: number;
  readonly started: number;
  readonly executions: number;
  /** Servers that had to be replaced. */
  readonly restarts: number;
}

const identifier = /^[A-Za-z_][A-Za-z0-9_]*$/;

export class LocalSandbox implements Sandbox {
  readonly tier: string;
  /** What a person should know about this sandbox, e.g. that it isolates nothing. */
  readonly warnings: readonly string[];
  /** What the server found when it tried to get out, at the start. */
  readonly report: IsolationReport;
  /** What holds here, by that report. */
  readonly guarantees: Guarantees;
  /** Versions of Python and of the libraries code can import. */
  readonly versions: Readonly<Record<string, string>>;
  readonly #options: LinkOptions;
  readonly #slots: Permits;
  readonly #counters: { executions: number };
  #link: Promise<ServerLink>;
  #current: ServerLink;
  #started = 0;
  #restarts = 0;
  #isDisposed = false;

  constructor({ link, first, maxSessions, counters, warnings }: LocalSandboxParts) {
    this.tier = first.tier;
    this.warnings = warnings;
    this.report = first.identity.report;
    this.guarantees = guaranteesOf(this.report, link.limits);
    this.versions = { python: first.identity.python, ...first.identity.libraries };
    this.#options = link;
    this.#slots = new Permits(maxSessions);
    this.#counters = counters;
    this.#current = first;
    this.#link = Promise.resolve(first);
  }

  /** Process number of the fork server, or of what isolates it. */
  get serverPid(): number {
    return this.#current.pid;
  }

  stats(): SandboxStats {
    return {
      open: this.#current.sessionCount,
      waiting: this.#slots.waiting + this.#options.running.waiting,
      started: this.#started,
      executions: this.#counters.executions,
      restarts: this.#restarts,
    };
  }

  async open(options: SessionOptions = {}): Promise<Session> {
    this.#checkInputs(options);
    this.#refuseDisposed();
    const release = await this.#slots.acquire(options.signal);
    let session: PythonSession;
    try {
      session = await this.#openOnLivingServer(options);
    } catch (error) {
      release();
      throw error;
    }
    this.#started += 1;
    const { signal } = options;
    const onAbort = (): void => void session.dispose();
    signal?.addEventListener('abort', onAbort, { once: true });
    void session.over.then(() => {
      release();
      signal?.removeEventListener('abort', onAbort);
    });
    if (signal?.aborted) {
      await session.dispose();
      throw signal.reason;
    }
    return session;
  }

  /** @throws DataError for a name that is no variable or stands twice, and for too large a video */
  #checkInputs({ images = [], videos = [] }: SessionOptions): void {
    const names = new Set<string>();
    for (const { name } of [...images, ...videos]) {
      if (!identifier.test(name)) {
        throw new DataError(
          `"${name}" cannot be a variable of a picture or video. Use letters, digits and underscores.`,
        );
      }
      if (names.has(name)) {
        throw new DataError(`Two pictures or videos are called ${name}. Give each its own name.`);
      }
      names.add(name);
    }
    const { videoBytes } = this.#options.limits;
    for (const { name, encoded } of videos) {
      if (encoded.length <= videoBytes) continue;
      throw new DataError(
        `The video ${name} has ${encoded.length} bytes, at most ${videoBytes} are allowed. ` +
          'Give a shorter one or raise limits.videoBytes.',
      );
    }
  }

  /** A server may die between two looks at it: one more try with a new one. */
  async #openOnLivingServer(options: SessionOptions): Promise<PythonSession> {
    for (let attempt = 0; ; attempt++) {
      this.#refuseDisposed();
      const link = await this.#livingLink();
      try {
        return await link.open(options);
      } catch (error) {
        if (link.isAlive || attempt > 0) throw error;
      }
    }
  }

  async #livingLink(): Promise<ServerLink> {
    const seen = this.#link;
    const link = await seen;
    if (link.isAlive) return link;
    // Whoever sees it dead first replaces it; the others find the new one's promise here.
    if (this.#link !== seen) return await this.#link;
    this.#restarts += 1;
    const fresh = ServerLink.start(this.#options);
    this.#link = fresh;
    try {
      this.#current = await fresh;
    } catch (error) {
      this.#link = seen; // so that the next open tries again
      throw error;
    }
    return this.#current;
  }

  #refuseDisposed(): void {
    if (!this.#isDisposed) return;
    throw new StateError('This sandbox is disposed. Open another one with openSandbox().');
  }

  async dispose(): Promise<void> {
    this.#isDisposed = true;
    const link = await this.#link.catch(() => this.#current);
    await link.stop();
  }
}
