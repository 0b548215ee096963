/** A Python session for one trajectory: variables persist from call to call until it is disposed. */
import type { Outcome } from './outcome.ts';

/** A picture put into the session before the first call, as a PIL image in a global variable. */
export interface InputImage {
  /** Variable name, e.g. `image_clue_0`. */
  readonly name: string;
  /** PNG or JPEG bytes, original resolution. */
  readonly encoded: Uint8Array;
}

/**
 * A video put into the session before the first call, as a reader in a global variable:
 * `len(reader)`, `reader[i].asnumpy()`, `reader.get_avg_fps()` as decord has them. Its bytes are mapped,
 * read-only; there is no file.
 */
export interface InputVideo {
  /** Variable name, e.g. `video_clue_0`; `VideoReader` takes it, too. */
  readonly name: string;
  /** The file's bytes, in any format that FFmpeg reads. */
  readonly encoded: Uint8Array;
}

export interface SessionOptions {
  readonly images?: readonly InputImage[];
  readonly videos?: readonly InputVideo[];
  readonly signal?: AbortSignal;
}

export interface Session {
  /**
   * Runs code in the session's namespace. Never throws for what the code did: that is the outcome.
   * After a kind that killed the interpreter (`timeout`, `memory`, `crashed`) the session is dead
   * and further calls give `crashed`; after `infraError` they give `infraError`.
   */
  execute(code: string, options?: { signal?: AbortSignal }): Promise<Outcome>;
  /** Ends the session's processes and removes its files. Idempotent. */
  dispose(): Promise<void>;
}

export interface Sandbox {
  /** Isolation in force, decided at start: `bubblewrap`, `process`, … */
  readonly tier: string;
  /** A fresh session; waits while the sandbox is at its session limit. */
  open(options?: SessionOptions): Promise<Session>;
  /** Counters for metrics and leak tests. */
  stats(): {
    readonly open: number;
    readonly waiting: number;
    readonly started: number;
    readonly executions: number;
  };
  dispose(): Promise<void>;
}
