/** Sessions that callers know by an id; a session that is not used for a while is closed. */
import { randomUUID } from 'node:crypto';
import type { Sandbox, Session, SessionOptions } from '../session.ts';

interface Entry {
  readonly session: Session;
  /** Calls under way. */
  calls: number;
  usedAt: number;
}

export class SessionTable {
  readonly #sandbox: Sandbox;
  readonly #idleMs: number;
  readonly #entries = new Map<string, Entry>();
  readonly #sweep: NodeJS.Timeout;

  constructor(sandbox: Sandbox, idleSeconds: number) {
    this.#sandbox = sandbox;
    this.#idleMs = idleSeconds * 1000;
    const often = Math.min(15_000, Math.max(100, this.#idleMs / 4));
    this.#sweep = setInterval(() => this.#closeIdle(), often);
    this.#sweep.unref();
  }

  get size(): number {
    return this.#entries.size;
  }

  has(id: string): boolean {
    return this.#entries.has(id);
  }

  /** @throws what the sandbox throws */
  async open(options: SessionOptions, id: string = randomUUID()): Promise<string> {
    const { signal, ...lasting } = options;
    const session = await openWithin(this.#sandbox, lasting, signal);
    this.#entries.set(id, { session, calls: 0, usedAt: Date.now() });
    return id;
  }

  /** Uses a session; it is not idle meanwhile. Undefined where there is none of this id. */
  async use<Result>(
    id: string,
    act: (session: Session) => Promise<Result>,
  ): Promise<Result | undefined> {
    const entry = this.#entries.get(id);
    if (entry === undefined) return undefined;
    entry.calls += 1;
    try {
      return await act(entry.session);
    } finally {
      entry.calls -= 1;
      entry.usedAt = Date.now();
    }
  }

  /** Whether there was one. */
  async close(id: string): Promise<boolean> {
    const entry = this.#entries.get(id);
    this.#entries.delete(id);
    await entry?.session.dispose();
    return entry !== undefined;
  }

  #closeIdle(): void {
    const before = Date.now() - this.#idleMs;
    for (const [id, { calls, usedAt }] of this.#entries) {
      if (calls === 0 && usedAt < before) void this.close(id);
    }
  }

  async dispose(): Promise<void> {
    clearInterval(this.#sweep);
    await Promise.all([...this.#entries.keys()].map((id) => this.close(id)));
  }
}

/** The signal is of the call that opens, and must not end the session afterwards. */
async function openWithin(
  sandbox: Sandbox,
  options: SessionOptions,
  signal: AbortSignal | undefined,
): Promise<Session> {
  if (signal === undefined) return await sandbox.open(options);
  signal.throwIfAborted();
  const controller = new AbortController();
  const onAbort = (): void => controller.abort(signal.reason);
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    return await sandbox.open({ ...options, signal: controller.signal });
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}
