/** A sandbox on other machines: servers of `saccade serve sandbox` behind one client. */
import { ConfigError, DataError, StateError } from '@saccade/core';
import { HttpError } from '@saccade/http';
import { z } from 'zod';
import { checkedCapture } from '../capture-options.ts';
import { QueueFullError, SandboxError } from '../errors.ts';
import { toBase64 } from '../outcome-json.ts';
import { Permits } from '../permits.ts';
import type { InputImage, Sandbox, Session, SessionOptions } from '../session.ts';
import { codeOf, SandboxHost } from './host.ts';
import { RemoteSession } from './remote-session.ts';

/** Options of `openRemoteSandbox`. */
export interface RemoteSandboxOptions {
  /** Addresses of the servers, e.g. `http://10.0.0.5:8710`. */
  readonly hosts: readonly string[];
  /** Their bearer token. */
  readonly token?: string;
  /** By what the servers tell clients apart that wait. */
  readonly caller?: string;
  /** Wall limit of every execution; the servers' own where it is shorter. */
  readonly wallSeconds?: number;
  /** Sessions of this client at a time, on all servers together; more wait. Default 256. */
  readonly maxSessions?: number;
  /** Calls that may wait for a session; more are refused. Default 16,384. */
  readonly maxQueued?: number;
  /** Between two looks at the health of the servers. Default 5. */
  readonly checkSeconds?: number;
  /** How long to look for a server that takes a session. Default 60. */
  readonly patienceSeconds?: number;
}

const opened = z.object({ session: z.string().min(1), tier: z.string() });
const identifier = /^[A-Za-z_][A-Za-z0-9_]*$/;

/**
 * Looks for the servers and returns when one of them is healthy.
 *
 * @throws ConfigError for no hosts or no addresses, SandboxError if none of them answers
 */
export async function openRemoteSandbox(options: RemoteSandboxOptions): Promise<RemoteSandbox> {
  if (options.hosts.length === 0) {
    throw new ConfigError('hosts', 'There are no hosts. Name at least one server of sandboxes.');
  }
  for (const host of options.hosts) {
    if (URL.canParse(host) && /^https?:/.test(host)) continue;
    throw new ConfigError('hosts', `"${host}" is no address. Write it like http://10.0.0.5:8710.`);
  }
  const hosts = options.hosts.map((url) => {
    const { token, caller } = options;
    return new SandboxHost({ url, ...(token && { token }), ...(caller && { caller }) });
  });
  const healths = await Promise.all(hosts.map((host) => host.check(AbortSignal.timeout(10_000))));
  const first = healths.find((health) => health !== undefined);
  if (first === undefined) {
    await Promise.all(hosts.map((host) => host.dispose()));
    throw new SandboxError(
      `No sandbox answers at ${options.hosts.join(', ')}. Start one with \`saccade serve sandbox\`, ` +
        'or check the addresses.',
    );
  }
  return new RemoteSandbox(hosts, first.tier, options);
}

/**
 * A sandbox on other machines; `openRemoteSandbox` makes one. A session stays on its server, and
 * new ones go to the healthy server with the fewest of this client's sessions.
 */
export class RemoteSandbox implements Sandbox {
  /** `remote:` and the isolation that the first healthy server has. */
  readonly tier: string;
  readonly #hosts: readonly SandboxHost[];
  readonly #slots: Permits;
  readonly #patienceMs: number;
  readonly #wallSeconds: number | undefined;
  readonly #checks: NodeJS.Timeout;
  readonly #opening = new Set<AbortController>();
  readonly #sessions = new Set<RemoteSession>();
  #isDisposed = false;
  #started = 0;
  #executions = 0;

  constructor(hosts: readonly SandboxHost[], tier: string, options: RemoteSandboxOptions) {
    const { maxSessions = 256, maxQueued = 16_384, checkSeconds = 5 } = options;
    this.tier = `remote:${tier}`;
    this.#hosts = hosts;
    this.#slots = new Permits(maxSessions, maxQueued);
    this.#wallSeconds = options.wallSeconds;
    this.#patienceMs = (options.patienceSeconds ?? 60) * 1000;
    this.#checks = setInterval(() => {
      const signal = AbortSignal.timeout(checkSeconds * 1000);
      for (const host of hosts) void host.check(signal);
    }, checkSeconds * 1000);
    this.#checks.unref();
  }

  stats(): { open: number; waiting: number; started: number; executions: number } {
    return {
      open: this.#hosts.reduce((sum, { sessions }) => sum + sessions, 0),
      waiting: this.#slots.waiting,
      started: this.#started,
      executions: this.#executions,
    };
  }

  async open(options: SessionOptions = {}): Promise<Session> {
    for (const { name } of [...(options.images ?? []), ...(options.videos ?? [])]) {
      if (identifier.test(name)) continue;
      throw new DataError(
        `"${name}" cannot be a variable of an image or video. Use letters, digits and underscores.`,
      );
    }
    checkedCapture(options.capture);
    this.#refuseDisposed();
    const { signal } = options;
    const release = await this.#slots.acquire(options);
    const opening = new AbortController();
    let session: RemoteSession | undefined;
    const onAbort = (): void => {
      opening.abort(signal?.reason);
      void session?.dispose();
    };
    const onEnd = (): void => {
      release();
      signal?.removeEventListener('abort', onAbort);
    };
    signal?.addEventListener('abort', onAbort, { once: true });
    this.#opening.add(opening);
    try {
      session = await this.#openSomewhere(requestOf(options), opening.signal, onEnd);
    } catch (error) {
      onEnd();
      throw error;
    } finally {
      this.#opening.delete(opening);
    }
    this.#started += 1;
    if (signal?.aborted) {
      await session.dispose();
      throw signal.reason;
    }
    return this.#counted(session);
  }

  /** No code has run yet, so that any host may be asked, as long as it takes. */
  async #openSomewhere(
    request: Readonly<Record<string, unknown>>,
    signal: AbortSignal,
    onEnd: () => void,
  ): Promise<RemoteSession> {
    const giveUp = performance.now() + this.#patienceMs;
    for (let attempt = 0; ; attempt++) {
      const host = this.#leastBusy();
      host.sessions += 1;
      try {
        const answer = await host.call('POST', '/v1/sessions', request, signal);
        const { session, tier } = opened.parse(answer);
        const remote = new RemoteSession(host, session, `remote:${tier}`, () => {
          host.sessions -= 1;
          this.#sessions.delete(remote);
          onEnd();
        });
        this.#sessions.add(remote);
        return remote;
      } catch (error) {
        host.sessions -= 1;
        this.#refuseDisposed();
        signal.throwIfAborted();
        const refusal = refusedForGood(error);
        if (refusal !== undefined) throw refusal;
        if (performance.now() > giveUp) {
          if (codeOf(error) === 'queue-full') {
            throw new QueueFullError(this.#slots.waiting);
          }
          throw new SandboxError(`No server took a session. ${String(error)}`, { cause: error });
        }
        const isLast = (attempt + 1) % this.#hosts.length === 0;
        if (isLast) await pause(Math.min(2_000, 50 * 2 ** Math.min(attempt, 6)), signal);
      }
    }
  }

  /** Healthy ones first; of these, the one where we have the fewest sessions. */
  #leastBusy(): SandboxHost {
    const healthy = this.#hosts.filter(({ isHealthy }) => isHealthy);
    const candidates = healthy.length > 0 ? healthy : this.#hosts;
    return candidates.reduce((best, host) => (host.sessions < best.sessions ? host : best));
  }

  #counted(session: RemoteSession): Session {
    return {
      execute: (code, options = {}) => {
        this.#executions += 1;
        // Not spread: an AbortController serves as options, and its signal is no property of its own.
        const { signal, wallSeconds = this.#wallSeconds } = options;
        return session.execute(code, {
          ...(signal && { signal }),
          ...(wallSeconds !== undefined && { wallSeconds }),
        });
      },
      dispose: () => session.dispose(),
    };
  }

  #refuseDisposed(): void {
    if (!this.#isDisposed) return;
    throw new StateError('This sandbox is disposed. Open another one with openRemoteSandbox().');
  }

  async dispose(): Promise<void> {
    clearInterval(this.#checks);
    this.#isDisposed = true;
    const reason = new StateError('The sandbox was disposed while a session was opened.');
    for (const opening of this.#opening) opening.abort(reason);
    await Promise.all(
      [...this.#sessions].map((session) => session.lose('The sandbox was disposed.')),
    );
    await Promise.all(this.#hosts.map((host) => host.dispose()));
  }
}

/** Made when its turn has come, so that waiting calls hold no copies of their images. */
function requestOf(options: SessionOptions): Record<string, unknown> {
  const { images = [], videos = [], mode, repairs, capture } = options;
  const inJson = (inputs: readonly InputImage[]) =>
    inputs.map(({ name, encoded }) => ({ name, encoded: toBase64(encoded) }));
  return {
    images: inJson(images),
    videos: inJson(videos),
    ...(mode !== undefined && { mode }),
    ...(repairs !== undefined && { repairs }),
    ...(capture !== undefined && { capture }),
  };
}

/** The error for a failure that no other host and no later try would mend; undefined for others. */
function refusedForGood(error: unknown): Error | undefined {
  if (!(error instanceof HttpError)) return new SandboxError(String(error), { cause: error });
  if (error.refusal?.code === 'data') return new DataError(error.message);
  const isFinal = error.fault === 'refused' && error.refusal !== undefined;
  return isFinal ? new SandboxError(error.message, { cause: error }) : undefined;
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const onAbort = (): void => {
      clearTimeout(timer);
      reject(signal.reason);
    };
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', onAbort);
      resolve();
    }, ms);
    signal.addEventListener('abort', onAbort, { once: true });
  });
}
