/** A sandbox on other machines: servers of `saccade serve sandbox` behind one client. */
import { ConfigError, DataError, type EventSink, StateError } from '@saccade/core';
import { HttpError } from '@saccade/http';
import { z } from 'zod';
import { checkedCapture } from '../capture-options.ts';
import { QueueFullError, SandboxError } from '../errors.ts';
import { toBase64 } from '../outcome-json.ts';
import { Permits } from '../permits.ts';
import type { InputImage, Sandbox, Session, SessionOptions } from '../session.ts';
import { codeOf, type HostReport, SandboxHost } from './host.ts';
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
  /** Calls of a server that is silent for this long are given up. Default 30. */
  readonly lostSeconds?: number;
  /** Longest time for which a server whose answers are useless gets no sessions. Default 60. */
  readonly asideSeconds?: number;
  /** Receives a warning when a server is gone, draining, or back. */
  readonly onEvent?: EventSink;
}

/** Seconds for the first look at a server, and for the others once one is healthy. */
const FIRST_LOOK_SECONDS = 10;
const OTHERS_LOOK_MS = 1000;

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
  const { token, caller, lostSeconds = 30, asideSeconds = 60 } = options;
  // Changes are told once the sandbox is open; what is wrong before that is in the error.
  let onChange = (_: HostReport): void => {};
  const hosts = [...new Set(options.hosts)].map(
    (url) =>
      new SandboxHost({
        ...{ url, lostSeconds, asideSeconds },
        ...(token && { token }),
        ...(caller && { caller }),
        onChange: (report) => onChange(report),
      }),
  );
  const looks = hosts.map((host) => host.check(FIRST_LOOK_SECONDS));
  const tier = await firstTier(looks);
  if (tier === undefined) {
    const reasons = hosts.map((host) => `${host.url} (${host.report().reason})`).join(', ');
    await Promise.all(hosts.map((host) => host.dispose()));
    throw new SandboxError(
      `No sandbox answers at ${reasons}. Start one with \`saccade serve sandbox\`, ` +
        'or check the addresses.',
    );
  }
  onChange = (report) => options.onEvent?.({ kind: 'warning', message: describe(report, hosts) });
  for (const host of hosts) if (host.state !== 'healthy') onChange(host.report());
  return new RemoteSandbox(hosts, tier, options);
}

/** The tier of the first healthy server, after a moment for the others to answer as well. */
async function firstTier(
  looks: readonly Promise<{ readonly tier: string } | undefined>[],
): Promise<string | undefined> {
  const all = Promise.all(looks);
  const any = Promise.any(
    looks.map(async (look) => {
      const health = await look;
      if (health === undefined) throw new StateError('This server is not healthy.');
      return health;
    }),
  );
  try {
    const { tier } = await any;
    await Promise.race([all, new Promise((wake) => setTimeout(wake, OTHERS_LOOK_MS))]);
    return tier;
  } catch {
    return undefined;
  }
}

function describe({ url, state, reason }: HostReport, hosts: readonly SandboxHost[]): string {
  const healthy = hosts.filter((host) => host.state === 'healthy').length;
  const what = state === 'healthy' ? 'takes sessions again' : `takes no sessions: ${reason}`;
  return `Sandbox host ${url} ${what}. ${healthy} of ${hosts.length} hosts are healthy.`;
}

/**
 * A sandbox on other machines; `openRemoteSandbox` makes one. A session stays on its server, and
 * new ones go to the healthy server with the least load: sessions of all clients for each execution
 * that it runs at a time.
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
      for (const host of hosts) void host.check(checkSeconds);
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

  /** The servers: their health, and how busy they are. */
  hosts(): readonly HostReport[] {
    return this.#hosts.map((host) => host.report());
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
    const asked = new Set<SandboxHost>();
    for (let round = 0; ; ) {
      const host = this.#leastBusy(asked);
      if (host === undefined) {
        asked.clear();
        await pause(Math.min(2_000, 50 * 2 ** Math.min(round, 6)), signal);
        round += 1;
        continue;
      }
      asked.add(host);
      host.sessions += 1;
      try {
        const { session, tier } = await this.#openOn(host, request, signal);
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
        if (error instanceof HttpError) host.blame(error);
        if (performance.now() > giveUp) {
          if (codeOf(error) === 'queue-full') {
            throw new QueueFullError(this.#slots.waiting);
          }
          throw new SandboxError(`No server took a session. ${String(error)}`, { cause: error });
        }
      }
    }
  }

  async #openOn(
    host: SandboxHost,
    body: Readonly<Record<string, unknown>>,
    signal: AbortSignal,
  ): Promise<z.output<typeof opened>> {
    const answer = await host.call({
      ...{ method: 'POST', path: '/v1/sessions', body, signal, isRepeatable: true },
    });
    const { success, data } = opened.safeParse(answer);
    if (!success) {
      const reason = 'its answer names no session';
      const message = `${host.url}: ${reason}. Check what listens there.`;
      throw new HttpError('garbled', message, { mayHaveRun: true, reason });
    }
    host.praise();
    return data;
  }

  /**
   * The one of the healthy servers that is least loaded, or of all where none is; undefined once each
   * of them was asked.
   */
  #leastBusy(asked: ReadonlySet<SandboxHost>): SandboxHost | undefined {
    const healthy = this.#hosts.filter(({ state }) => state === 'healthy');
    const candidates = (healthy.length > 0 ? healthy : this.#hosts).filter(
      (host) => !asked.has(host),
    );
    const after = ({ load, share }: SandboxHost): number => load + share;
    return candidates.reduce<SandboxHost | undefined>(
      (best, host) => (best === undefined || after(host) < after(best) ? host : best),
      undefined,
    );
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

/** Statuses of a server that is not ours, or does not know us: another may be. */
const FOREIGN = [401, 403, 404, 405];

/** The error for a failure that no other host and no later try would mend; undefined for others. */
function refusedForGood(error: unknown): Error | undefined {
  if (!(error instanceof HttpError)) return new SandboxError(String(error), { cause: error });
  if (error.refusal?.code === 'data') return new DataError(error.message);
  const isFinal = error.fault === 'refused' && error.refusal !== undefined;
  if (!isFinal || FOREIGN.includes(error.status ?? 0)) return undefined;
  return new SandboxError(error.message, { cause: error });
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
