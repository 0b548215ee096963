/** Servers that have a fixed number of sessions in their life each, with some ready in advance. */
import { StateError } from '@saccade/core';
import { type LinkOptions, ServerLink } from './server-link.ts';
import type { Servers } from './server-pool.ts';

export interface SpareServersOptions {
  readonly link: LinkOptions;
  /** A server that is running already. */
  readonly first: ServerLink;
  /** Servers that wait, ready, for a session. */
  readonly spares: number;
  /** Sessions that a server has before it ends with the last of them. */
  readonly sessionsPerServer: number;
  /** Removes what servers start from. */
  readonly removeSnapshot: () => Promise<void>;
}

export class SpareServers implements Servers {
  readonly recycled = 0;
  readonly #options: SpareServersOptions;
  /** Servers that may have more sessions, and how many. */
  readonly #fresh = new Map<ServerLink, number>();
  /** Sessions that are about to be opened on each. */
  readonly #opening = new Map<ServerLink, number>();
  readonly #starting: Promise<ServerLink>[] = [];
  readonly #links = new Set<ServerLink>();
  #restarts = 0;
  #isDisposed = false;

  constructor(options: SpareServersOptions) {
    this.#options = options;
    this.#keep(options.first);
    this.#fresh.set(options.first, options.sessionsPerServer);
  }

  /** Servers that ended before they had all their sessions. */
  get restarts(): number {
    return this.#restarts;
  }

  get links(): readonly ServerLink[] {
    return [...this.#links];
  }

  async take(): Promise<ServerLink> {
    const link = await this.#take();
    this.#opening.set(link, (this.#opening.get(link) ?? 0) + 1);
    this.#prepare();
    return link;
  }

  async #take(): Promise<ServerLink> {
    if (this.#isDisposed) throw disposedError();
    for (const [link, left] of this.#fresh) {
      if (!link.isAlive) continue;
      if (left === 1) this.#fresh.delete(link);
      else this.#fresh.set(link, left - 1);
      return link;
    }
    const link = await (this.#starting.shift() ?? this.#start());
    const { sessionsPerServer } = this.#options;
    if (sessionsPerServer > 1) this.#fresh.set(link, sessionsPerServer - 1);
    return link;
  }

  onOpened(link: ServerLink): void {
    const left = (this.#opening.get(link) ?? 1) - 1;
    if (left > 0) this.#opening.set(link, left);
    else this.#opening.delete(link);
    if (left === 0 && !this.#fresh.has(link)) link.retire();
  }

  /** Starts missing servers; a failure is reported to the next call that needs one. */
  #prepare(): void {
    const { spares, sessionsPerServer } = this.#options;
    while (!this.#isDisposed && this.#fresh.size + this.#starting.length < spares) {
      const starting = this.#start();
      this.#starting.push(starting);
      starting.then(
        (link) => {
          const index = this.#starting.indexOf(starting);
          if (index < 0) return; // a call waits for it
          this.#starting.splice(index, 1);
          this.#fresh.set(link, sessionsPerServer);
        },
        () => {},
      );
    }
  }

  async #start(): Promise<ServerLink> {
    const link = await ServerLink.start(this.#options.link);
    this.#keep(link);
    if (!this.#isDisposed) return link;
    await link.stop();
    throw disposedError();
  }

  #keep(link: ServerLink): void {
    this.#links.add(link);
    void link.ended.then(() => {
      this.#links.delete(link);
      if (this.#fresh.delete(link) && !this.#isDisposed) this.#restarts += 1;
    });
  }

  async dispose(): Promise<void> {
    this.#isDisposed = true;
    await Promise.allSettled(this.#starting.splice(0));
    await Promise.all([...this.#links].map((link) => link.stop()));
    await this.#options.removeSnapshot();
  }
}

function disposedError(): StateError {
  return new StateError('This sandbox is disposed. Open another one with openSandbox().');
}
