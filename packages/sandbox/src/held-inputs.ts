/** Encoded images or video files that a fork server holds for its sessions. */
import { createHash } from 'node:crypto';

export interface HeldInput {
  readonly id: number;
  readonly bytes: number;
}

export interface HeldInputsOptions {
  readonly kind: 'image' | 'video';
  /** Those unused longest are dropped beyond this. */
  readonly mostBytes: number;
  /** … and beyond so many. */
  readonly mostInputs: number;
  /** Speaks to the server. */
  readonly tell: (header: Readonly<Record<string, unknown>>, blobs?: Uint8Array[]) => void;
}

export class HeldInputs {
  readonly #options: HeldInputsOptions;
  /** By content, oldest use first. */
  readonly #byContent = new Map<string, HeldInput>();
  /** Hashing a long video for each of its sessions would take longer than they do. */
  readonly #keys = new WeakMap<Uint8Array, string>();
  #nextId = 1;

  constructor(options: HeldInputsOptions) {
    this.#options = options;
  }

  /**
   * Makes sure that the server has these bytes.
   *
   * @param encoded must not change afterwards
   */
  place(encoded: Uint8Array): HeldInput {
    const { kind, tell } = this.#options;
    const key = this.#keyOf(encoded);
    const known = this.#byContent.get(key);
    const held = known ?? { id: this.#nextId++, bytes: encoded.length };
    this.#byContent.delete(key);
    this.#byContent.set(key, held);
    if (known === undefined) tell({ type: 'hold', kind, id: held.id }, [encoded]);
    return held;
  }

  /** Forgets long unused ones. Call it when the session that uses the last placed ones is opened. */
  trim(): void {
    const { kind, mostBytes, mostInputs, tell } = this.#options;
    let total = 0;
    for (const { bytes } of this.#byContent.values()) total += bytes;
    for (const [key, { id, bytes }] of this.#byContent) {
      if (total <= mostBytes && this.#byContent.size <= mostInputs) return;
      total -= bytes;
      this.#byContent.delete(key);
      tell({ type: 'drop', kind, id });
    }
  }

  /** The server is gone. */
  clear(): void {
    this.#byContent.clear();
  }

  #keyOf(encoded: Uint8Array): string {
    let key = this.#keys.get(encoded);
    if (key === undefined) {
      key = createHash('sha1').update(encoded).digest('base64');
      this.#keys.set(encoded, key);
    }
    return key;
  }
}
