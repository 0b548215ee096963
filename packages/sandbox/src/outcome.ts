/** How an execution ended: a status and data, so that no message has to be parsed. */

/**
 * - `ok` the code ran to its end;
 * - `exception` the code raised, or did not compile;
 * - `timeout` wall or CPU time ran out and the code was killed;
 * - `memory` the memory limit was hit;
 * - `forbidden` the code was refused before it ran, or a policy stopped it;
 * - `crashed` the interpreter died (signal, `os._exit`, …): still the code's fault;
 * - `infraError` the sandbox itself failed: the trajectory must be retried or excluded, never scored.
 */
export type OutcomeKind =
  | 'ok'
  | 'exception'
  | 'timeout'
  | 'memory'
  | 'forbidden'
  | 'crashed'
  | 'infraError';

/**
 * An image the code showed, or left where its session looks for some, re-encoded from decoded
 * pixels.
 */
export interface CapturedImage {
  /** PNG bytes: 8-bit RGB, transparency laid on white. */
  readonly png: Uint8Array;
  readonly width: number;
  readonly height: number;
  /**
   * How it came to be shown: a matplotlib figure, an image's `.show()` or `display`, and where the
   * session asks for it (`CaptureOptions`) the value of the last expression, or a file.
   */
  readonly source: 'figure' | 'image' | 'value' | 'file';
  /** For a file: its path in the session's directory, as code chose it. */
  readonly file?: string;
  /**
   * Where its pixels come from, when the runtime could follow it through crops, resizes and turns:
   * the input's variable name and the affine map that takes this image's pixel coordinates to the
   * input's: x' = a·x + b·y + c, y' = d·x + e·y + f, as [a, b, c, d, e, f]. Coordinates are
   * continuous (pixel i covers [i, i + 1)); a quarter turn has a = e = 0, a flip a negative scale.
   * A hint for metrics, not evidence: code can forge it.
   */
  readonly origin?: {
    readonly image: string;
    readonly map: readonly [number, number, number, number, number, number];
  };
}

/** An exception as data; `line` counts from 1 in the submitted code. */
export interface CodeError {
  readonly type: string;
  readonly message: string;
  readonly line?: number;
  /** The traceback, without the sandbox's own frames. */
  readonly traceback: string;
}

/** A mistake that was repaired; `line` counts from 1 in the submitted code. */
export interface Repair {
  readonly kind: 'indentation' | 'imagePath' | 'cropBox';
  readonly before: string;
  readonly after: string;
  readonly line?: number;
}

/** How an execution ended and what came of it. Times are in milliseconds, `maxRssKb` in KiB. */
export interface Outcome {
  readonly kind: OutcomeKind;
  readonly stdout: string;
  readonly stderr: string;
  readonly images: readonly CapturedImage[];
  readonly error?: CodeError;
  /** The parts that were cut to stay within the limits, or by the session's image filters. */
  readonly truncated: readonly ('stdout' | 'stderr' | 'images')[];
  /** Repairs, twenty at most, if the session asked for them; see `RepairOptions`. */
  readonly repairs?: readonly Repair[];
  /** The session continues as if this execution had not happened; see `SessionMode`. */
  readonly rolledBack?: true;
  /** Wall time of the execution itself, queueing excluded. */
  readonly wallMs: number;
  readonly cpuMs: number;
  readonly maxRssKb: number;
  /** Isolation that was in force, e.g. `bubblewrap` or `process`. */
  readonly tier: string;
}
