/** Sessions by ids that nobody guesses; those that nobody uses end. */
import { randomBytes } from 'node:crypto';

/** How many sessions there may be, and how long one may be unused. */
export interface SessionLimits {
  /** Sessions at a time. */
  readonly maxSessions: number;
  /** Unused for this long, a session ends. */
  readonly idleSeconds: number;
}

interface Entry<Session> {
  readonly session: Session;
  usedAt: number;
  uses: number;
}

/** Values of clients by their ids; what ends a session is called once for each. */
export class Sessions<Session> {
  readonly #limits: SessionLimits;
  readonly #end: (session: Session) => Promise<void>;
  readonly #onFault: (error: unknown) => void;
  readonly #entries = new Map<string, Entry<Session>>();
  readonly #timer: NodeJS.Timeout;

  /**
   * @param end     closes a session
   * @param onFault is told if closing an idle session fails; nobody waits for that
   */
  constructor(
    limits: SessionLimits,
    end: (session: Session) => Promise<void>,
    onFault: (error: unknown) => void,
  ) {
    this.#limits = limits;
    this.#end = end;
    this.#onFault = onFault;
    const period = Math.min(10_000, Math.max(10, limits.idleSeconds * 250));
    this.#timer = setInterval(() => this.#endIdle(), period);
    this.#timer.unref();
  }

  get count(): number {
    return this.#entries.size;
  }

  /** Whether another one may be opened. */
  get hasRoom(): boolean {
    if (this.#entries.size >= this.#limits.maxSessions) this.#endIdle();
    return this.#entries.size < this.#limits.maxSessions;
  }

  /** 256 random bits. */
  newId(): string {
    return randomBytes(32).toString('base64url');
  }

  add(id: string, session: Session): void {
    this.#entries.set(id, { session, usedAt: performance.now(), uses: 0 });
  }

  /** Uses a session: while it is used, it is not idle. Undefined if there is none of that id. */
  async use<Result>(
    id: string,
    work: (session: Session) => Promise<Result>,
  ): Promise<Result | undefined> {
    const entry = this.#entries.get(id);
    if (entry === undefined) return undefined;
    entry.uses++;
    try {
      return await work(entry.session);
    } finally {
      entry.uses--;
      entry.usedAt = performance.now();
    }
  }

  /** @returns whether there was one */
  async end(id: string): Promise<boolean> {
    const entry = this.#entries.get(id);
    if (entry === undefined) return false;
    this.#entries.delete(id);
    await this.#end(entry.session);
    return true;
  }

  async endAll(): Promise<void> {
    clearInterval(this.#timer);
    await Promise.all([...this.#entries.keys()].map((id) => this.end(id)));
  }

  #endIdle(): void {
    const before = performance.now() - this.#limits.idleSeconds * 1000;
    for (const [id, { uses, usedAt }] of this.#entries) {
      if (uses === 0 && usedAt < before) void this.end(id).catch(this.#onFault);
    }
  }
}
