/** What a fork server holds for its sessions: decoded pictures, or video files. */
import { createHash } from 'node:crypto';

export interface HeldInput {
  readonly id: number;
  /** As the server counts them; until it answers, those sent. */
  bytes: number;
  /** Why the server could not take it. */
  failure?: string;
}

export interface HeldInputsOptions {
  readonly kind: 'image' | 'video';
  /** Those unused longest are dropped beyond this. */
  readonly mostBytes: number;
  /** Speaks to the server. */
  readonly tell: (header: Readonly<Record<string, unknown>>, blobs?: Uint8Array[]) => void;
}

export class HeldInputs {
  readonly #options: HeldInputsOptions;
  /** By content, oldest use first. */
  readonly #byContent = new Map<string, HeldInput>();
  readonly #byId = new Map<number, HeldInput>();
  /** Hashing a long video for each of its sessions would take longer than they do. */
  readonly #keys = new WeakMap<Uint8Array, string>();
  #nextId = 1;

  constructor(options: HeldInputsOptions) {
    this.#options = options;
  }

  /**
   * Makes sure that the server has these bytes, and forgets long unused ones.
   *
   * @param encoded must not change afterwards
   */
  place(encoded: Uint8Array): HeldInput {
    const { kind, mostBytes, tell } = this.#options;
    const key = this.#keyOf(encoded);
    const known = this.#byContent.get(key);
    const held = known ?? { id: this.#nextId++, bytes: encoded.length };
    this.#byContent.delete(key);
    this.#byContent.set(key, held);
    if (known !== undefined) return held;
    this.#byId.set(held.id, held);
    tell({ type: kind, id: held.id }, [encoded]);
    let total = 0;
    for (const { bytes } of this.#byContent.values()) total += bytes;
    for (const [oldKey, old] of this.#byContent) {
      if (total <= mostBytes || old === held) break;
      total -= old.bytes;
      this.#drop(oldKey, old);
    }
    return held;
  }

  /** What the server says of one: its size, or why it has none. */
  onHeld(header: Readonly<Record<string, unknown>>): void {
    const held = this.#byId.get(header.id as number);
    if (held === undefined) return;
    held.bytes = header.bytes as number;
    if (typeof header.message !== 'string') return;
    held.failure = header.message;
    for (const [key, other] of this.#byContent) if (other === held) this.#drop(key, held);
  }

  /** The server is gone. */
  clear(): void {
    this.#byContent.clear();
    this.#byId.clear();
  }

  #keyOf(encoded: Uint8Array): string {
    let key = this.#keys.get(encoded);
    if (key === undefined) {
      key = createHash('sha1').update(encoded).digest('base64');
      this.#keys.set(encoded, key);
    }
    return key;
  }

  #drop(key: string, held: HeldInput): void {
    const { kind, tell } = this.#options;
    this.#byContent.delete(key);
    this.#byId.delete(held.id);
    tell({ type: kind === 'image' ? 'dropImage' : 'dropVideo', id: held.id });
  }
}
