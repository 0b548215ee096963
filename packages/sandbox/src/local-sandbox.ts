/** The sandbox of this machine: sessions behind fork servers, which are replaced if they die. */
import { DataError, StateError, spanElsewhere } from '@saccade/core';
import { checkedCapture } from './capture-options.ts';
import { type Guarantees, guaranteesOf, type IsolationReport } from './guarantees.ts';
import type { Limits } from './limits.ts';
import { Permits } from './permits.ts';
import { treeProcessorSeconds } from './process-tree.ts';
import type { PythonSession } from './python-session.ts';
import type { LinkOptions, ServerLink } from './server-link.ts';
import type { Servers } from './server-pool.ts';
import type { Sandbox, Session, SessionOptions } from './session.ts';
import { maxFrameBytes } from './wire.ts';

export interface LocalSandboxParts {
  readonly link: LinkOptions;
  /** The server that is running already. */
  readonly first: ServerLink;
  readonly servers: Servers;
  readonly maxSessions: number;
  readonly maxQueued: number;
  readonly counters: Counters;
  readonly warnings: readonly string[];
}

/** Counts over all sessions, whichever server they are on. */
interface Counters {
  readonly executions: number;
  readonly violations: number;
}

/** Counters of a `LocalSandbox`: what is open now, and totals since its start. */
export interface SandboxStats {
  /** Sessions with a living process. */
  readonly open: number;
  /** Calls that wait for a session or for a processor. */
  readonly waiting: number;
  /** Executions that run now. */
  readonly running: number;
  readonly started: number;
  readonly executions: number;
  /** Sessions that were ended because their code wrote to the pipes and memory of its replies. */
  readonly violations: number;
  /** Fork servers that are alive. */
  readonly servers: number;
  /** Servers that died and were replaced. */
  readonly restarts: number;
  /** Servers that were replaced for their age or size. */
  readonly recycled: number;
}

const identifier = /^[A-Za-z_][A-Za-z0-9_]{0,255}$/;
/** Each is a descriptor of the server's and the session's process. */
const mostInputs = 1024;
/** It is sent to the server in one frame. */
const mostImageBytes = maxFrameBytes - 2 ** 16;

/**
 * A sandbox on this machine; `openSandbox` makes one. Its sessions are forked from servers that
 * have the libraries loaded.
 */
export class LocalSandbox implements Sandbox {
  readonly tier: string;
  /** Warnings for people about this sandbox, e.g. that it isolates nothing. */
  readonly warnings: readonly string[];
  /** The server's findings when it tried to get out, at the start. */
  readonly report: IsolationReport;
  /** The guarantees that hold here, by that report. */
  readonly guarantees: Guarantees;
  /** Versions of Python and of the libraries code can import. */
  readonly versions: Readonly<Record<string, string>>;
  readonly #options: LinkOptions;
  readonly #slots: Permits;
  readonly #counters: Counters;
  readonly #pool: Servers;
  readonly #firstPid: number;
  #started = 0;
  #isDisposed = false;

  constructor(parts: LocalSandboxParts) {
    const { link, first, servers, maxSessions, maxQueued, counters, warnings } = parts;
    this.tier = first.tier;
    this.warnings = warnings;
    this.report = first.identity.report;
    this.guarantees = guaranteesOf(this.report, link.limits);
    this.versions = { python: first.identity.python, ...first.identity.libraries };
    this.#options = link;
    this.#slots = new Permits(maxSessions, maxQueued);
    this.#counters = counters;
    this.#pool = servers;
    this.#firstPid = first.pid;
  }

  get limits(): Limits {
    return this.#options.limits;
  }

  /** Process number of a fork server, or of what isolates it. */
  get serverPid(): number {
    return this.serverPids[0] ?? this.#firstPid;
  }

  /** Those of all living ones. */
  get serverPids(): readonly number[] {
    return this.#pool.links.map(({ pid }) => pid);
  }

  /** Most sessions, and most executions, at a time. */
  get capacity(): { readonly sessions: number; readonly executions: number } {
    return { sessions: this.#slots.count, executions: this.#options.running.count };
  }

  stats(): SandboxStats {
    const { links, restarts, recycled } = this.#pool;
    const { running } = this.#options;
    return {
      open: links.reduce((sum, { sessionCount }) => sum + sessionCount, 0),
      waiting: this.#slots.waiting + running.waiting,
      running: running.held,
      started: this.#started,
      ...this.#counters,
      servers: links.length,
      restarts,
      recycled,
    };
  }

  processorSeconds(): number | undefined {
    return treeProcessorSeconds(this.serverPids);
  }

  async open(options: SessionOptions = {}): Promise<Session> {
    this.#checkInputs(options);
    checkedCapture(options.capture);
    this.#refuseDisposed();
    const release = await this.#slots.acquire(options);
    let session: PythonSession;
    try {
      session = await spanElsewhere('sandbox/start', () => this.#openOnLivingServer(options));
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
          `"${name.slice(0, 256)}" cannot be a variable of an image or video. Use at most 256 letters, digits and underscores.`,
        );
      }
      if (names.has(name)) {
        throw new DataError(`Two images or videos are called ${name}. Give each its own name.`);
      }
      names.add(name);
    }
    if (names.size > mostInputs) {
      throw new DataError(
        `There are ${names.size} images and videos, at most ${mostInputs} are allowed. Give fewer.`,
      );
    }
    for (const { name, encoded } of images) {
      if (encoded.length <= mostImageBytes) continue;
      throw new DataError(
        `The image ${name} has ${encoded.length} bytes, at most ${mostImageBytes} are allowed. ` +
          'Give a smaller one.',
      );
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
      const link = await this.#pool.take();
      try {
        return await link.open(options);
      } catch (error) {
        if (link.isAlive || attempt > 0) throw error;
      } finally {
        this.#pool.onOpened(link);
      }
    }
  }

  #refuseDisposed(): void {
    if (!this.#isDisposed) return;
    throw new StateError('This sandbox is disposed. Open another one with openSandbox().');
  }

  async dispose(): Promise<void> {
    this.#isDisposed = true;
    await this.#pool.dispose();
  }
}
