/** The fork servers of a sandbox: the least busy one is taken, dead and grown ones are replaced. */
import { StateError } from '@saccade/core';
import { type LinkOptions, ServerLink } from './server-link.ts';
import { interpreterBytes } from './server-memory.ts';
import { usersFrom } from './users.ts';

/** When a server that still works makes room for a fresh one. */
export interface Recycle {
  /** Sessions it has opened. Default 20,000. */
  readonly sessions: number;
  /** Its resident memory. A fork takes time for every page. Default 512 MiB. */
  readonly memoryBytes: number;
}

export const defaultRecycle: Recycle = { sessions: 20_000, memoryBytes: 512 * 1024 ** 2 };

export interface ServerPoolOptions {
  readonly link: LinkOptions;
  /** The server that is running already. */
  readonly first: ServerLink;
  /** Servers at a time; the others start when there is more than one session. */
  readonly servers: number;
  readonly maxSessions: number;
  readonly recycle: Recycle;
}

/** A server that is to be there, and the numbers of users that its sessions may become. */
interface Place {
  link: ServerLink | undefined;
  starting: Promise<ServerLink> | undefined;
}

/** Sessions from one look at a server's memory to the next. */
const lookEvery = 64;

/** Where sessions get their server from. */
export interface Servers {
  /** Servers that died and were replaced. */
  readonly restarts: number;
  /** Servers that were replaced for their age or size. */
  readonly recycled: number;
  readonly links: readonly ServerLink[];
  /**
   * A living server for one more session.
   *
   * @throws SandboxError if none is alive and none can be started
   */
  take(): Promise<ServerLink>;
  /** The session that `take` was called for is open, or failed to open. */
  onOpened(link: ServerLink): void;
  dispose(): Promise<void>;
}

export class ServerPool implements Servers {
  readonly #options: ServerPoolOptions;
  readonly #places: Place[];
  /** Servers that take no more sessions but have some. */
  readonly #retired = new Set<ServerLink>();
  /** Unused ranges of user numbers. */
  readonly #freeRanges: number[];
  #restarts = 0;
  #recycled = 0;
  #isDisposed = false;

  constructor(options: ServerPoolOptions) {
    this.#options = options;
    const { link, first, servers, maxSessions } = options;
    const base = uidBaseOf(link);
    const ranges = base === null ? servers + 8 : Math.floor(usersFrom(base) / maxSessions);
    this.#freeRanges = Array.from({ length: Math.max(1, ranges) }, (_, index) => index);
    this.#places = Array.from({ length: Math.min(servers, this.#freeRanges.length) }, () => ({
      link: undefined,
      starting: undefined,
    }));
    const [place] = this.#places;
    if (place !== undefined) place.link = first;
    this.#giveBackRange(first, this.#freeRanges.shift() ?? 0);
  }

  /** Servers that died and were replaced. */
  get restarts(): number {
    return this.#restarts;
  }

  /** Servers that were replaced for their age or size. */
  get recycled(): number {
    return this.#recycled;
  }

  get links(): readonly ServerLink[] {
    const current = this.#places.flatMap(({ link }) => (link?.isAlive ? [link] : []));
    return [...current, ...this.#retired];
  }

  /**
   * A living server with as few sessions as any.
   *
   * @throws SandboxError if none is alive and none can be started
   */
  async take(): Promise<ServerLink> {
    let best: ServerLink | undefined;
    for (const place of this.#places) {
      const { link } = place;
      if (!link?.isAlive) continue;
      if (best === undefined || link.sessionCount < best.sessionCount) best = link;
    }
    const missing = this.#places.find(({ link }) => !link?.isAlive);
    if (best === undefined) return await this.#start(missing ?? this.#places[0]);
    if (missing !== undefined && (missing.link !== undefined || best.sessionCount > 0)) {
      this.#start(missing).catch(() => {}); // its next user is told
    }
    this.#lookAt(best);
    return best;
  }

  onOpened(): void {}

  /** The first call that needs it starts it; the others wait for the same one. */
  async #start(place: Place | undefined): Promise<ServerLink> {
    if (place === undefined || this.#isDisposed) {
      throw new StateError('This sandbox is disposed. Open another one with openSandbox().');
    }
    if (place.starting !== undefined) return await place.starting;
    if (place.link !== undefined) this.#restarts += 1;
    place.starting = this.#fresh(place);
    try {
      return await place.starting;
    } finally {
      place.starting = undefined;
    }
  }

  async #fresh(place: Place): Promise<ServerLink> {
    const range = this.#freeRanges.shift();
    if (range === undefined) {
      // Only while many servers end at once: the first that has ended makes room.
      await Promise.race([...this.links].map((link) => link.ended));
      return await this.#fresh(place);
    }
    let link: ServerLink;
    try {
      link = await ServerLink.start(withRange(this.#options, range));
    } catch (error) {
      this.#freeRanges.push(range);
      throw error;
    }
    this.#giveBackRange(link, range);
    if (this.#isDisposed) await link.stop();
    place.link = link;
    return link;
  }

  #giveBackRange(link: ServerLink, range: number): void {
    void link.ended.then(() => {
      this.#retired.delete(link);
      this.#freeRanges.push(range);
    });
  }

  /** From time to time: is it still fit? */
  #lookAt(link: ServerLink): void {
    const { sessions, memoryBytes } = this.#options.recycle;
    if (link.openedCount >= sessions) return void this.#replace(link);
    if (link.openedCount % lookEvery !== 0) return;
    void interpreterBytes(link.pid).then((bytes) => {
      if (bytes !== undefined && bytes > memoryBytes) return this.#replace(link);
    });
  }

  /** The new server is ready before the old one takes no more sessions. */
  async #replace(link: ServerLink): Promise<void> {
    const place = this.#places.find((one) => one.link === link);
    if (place === undefined || place.starting !== undefined || this.#freeRanges.length === 0)
      return;
    place.starting = this.#fresh(place);
    try {
      await place.starting;
      this.#recycled += 1;
      this.#retired.add(link);
      link.retire();
    } catch {
      // The old one continues; the next look tries again.
    } finally {
      place.starting = undefined;
    }
  }

  async dispose(): Promise<void> {
    this.#isDisposed = true;
    const starting = this.#places.flatMap((place) => (place.starting ? [place.starting] : []));
    await Promise.allSettled(starting);
    await Promise.all(
      [...this.#places.map(({ link }) => link), ...this.#retired].map((l) => l?.stop()),
    );
  }
}

function uidBaseOf({ server }: LinkOptions): number | null {
  const { uidBase } = server.config;
  return typeof uidBase === 'number' ? uidBase : null;
}

/** Two servers at a time never give sessions the same user. */
function withRange({ link, maxSessions }: ServerPoolOptions, range: number): LinkOptions {
  const base = uidBaseOf(link);
  if (base === null) return link;
  const config = { ...link.server.config, uidBase: base + range * maxSessions };
  return { ...link, server: { ...link.server, config } };
}
