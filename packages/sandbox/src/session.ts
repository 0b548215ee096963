/** A Python session for one trajectory: variables persist from call to call until it is disposed. */
import type { Outcome } from './outcome.ts';

/** An image put into the session before the first call, as a PIL image in a global variable. */
export interface InputImage {
  /** Variable name, e.g. `image_clue_0`. */
  readonly name: string;
  /** PNG or JPEG bytes, original resolution. */
  readonly encoded: Uint8Array;
}

/**
 * A video put into the session before the first call, as a reader in a global variable with
 * decord's interface: `len(reader)`, `reader[i].asnumpy()`, `reader.get_avg_fps()`. Its bytes are
 * mapped read-only; there is no file.
 */
export interface InputVideo {
  /** Variable name, e.g. `video_clue_0`; `VideoReader` takes it, too. */
  readonly name: string;
  /** The file's bytes, in any format that FFmpeg reads. */
  readonly encoded: Uint8Array;
}

/**
 * The state that an execution leaves to the next one:
 * - `persistent` everything it did, even if it failed, unless it ended the interpreter;
 * - `transactional` everything if it succeeded. After a failure (exception, timeout, memory, crash)
 *   variables, files, figures and random state are as after the last success;
 * - `fresh` nothing.
 *
 * The last two run each execution in a fork. Changes of memory mapped with `MAP_SHARED` persist,
 * and threads end with the execution that started them.
 */
export type SessionMode = 'persistent' | 'transactional' | 'fresh';

/**
 * Mistakes of code that are repaired before or while it runs, as in CodeV and Thyme. Default: none.
 * Each repair is recorded in the outcome's `repairs`, so that a reward or a metric can count it.
 */
export interface RepairOptions {
  /** Code that fails to compile only because of its indentation is dedented by its first line. */
  readonly indentation?: boolean;
  /**
   * Strings that look like the path of an image file, but name none, become the file of that name
   * in the session's directory, or the only image there.
   */
  readonly imagePaths?: boolean;
  /**
   * `Image.crop` outside the image gives the part inside, with sides of at least this many pixels
   * (Thyme: 64), instead of black borders or an error.
   */
  readonly cropBoxes?: number;
}

/** Limits on the images that are kept, beyond `limits`. An omission is marked in `truncated`. */
export interface ImageFilter {
  /** Images of one execution at most, if that is less than `limits.imageCount`. CodeV: 5. */
  readonly most?: number;
  /** Longest over shortest side; longer images are dropped. CodeDance: 200, CodeV: 100. */
  readonly mostAspect?: number;
  /**
   * Images with a side of less than `below` pixels are dropped or, with `enlargeTo`, enlarged until
   * their shortest side has that many. CodeDance: 56 and 112, CodeV: 28 and 28.
   */
  readonly smallSides?: { readonly below: number; readonly enlargeTo?: number };
}

/**
 * The output that an execution returns besides what its code shows with `plt.show()`,
 * `figure.show()`, `image.show()` and `display(x)`. Default: nothing. Values and files are examined
 * in the session's own process, within its limits, and only after code that ran to its end.
 */
export interface CaptureOptions {
  /**
   * Where the last statement is an expression, its value is shown, as notebooks and CodeDance do:
   * PIL images and figures as they are; arrays [height, width] or [height, width, 1, 3 or 4
   * channels] as images, floats in 0 to 1; anything else but `None` is printed. `display` takes
   * such arrays, too.
   */
  readonly lastExpression?: boolean;
  /** Order of the channels of arrays. Default `RGB`; OpenCV's is `BGR`, which CodeDance assumes. */
  readonly arrayChannels?: 'RGB' | 'BGR';
  /**
   * Image files (PNG, JPEG, WebP, BMP, GIF) of the session's directory whose names are in stdout,
   * each once, in that order. If a path does not exist, its last part is used. CodeV, Thyme.
   */
  readonly printedFiles?: boolean;
  /** With `printedFiles`: lines that are only the name of such a file are removed from stdout. */
  readonly hidesNames?: boolean;
  /** Image files that the execution wrote in the session's directory, oldest first. */
  readonly savedFiles?: boolean;
  /**
   * Files that are never captured, by their paths in the session's directory. If there are any, a
   * file with the pixels of an input is not captured either, whatever its name: it shows nothing
   * new.
   */
  readonly exceptFiles?: readonly string[];
  /** How figures are drawn. */
  readonly figures?: {
    /** Dots per inch, instead of the figure's own (100 by default). CodeDance: 150. */
    readonly dpi?: number;
    /** Cut to what is drawn, with a small margin. */
    readonly isTight?: boolean;
    /** Figures with a side of fewer pixels, at their own resolution, are dropped. CodeDance: 28. */
    readonly leastSide?: number;
  };
  /** Limits on the images that are kept, however they came. */
  readonly images?: ImageFilter;
}

/**
 * A session's inputs, and how it treats its code. Options that are left out keep the
 * sandbox's defaults.
 */
export interface SessionOptions {
  readonly repairs?: RepairOptions;
  readonly capture?: CaptureOptions;
  /** Default `persistent`. */
  readonly mode?: SessionMode;
  readonly images?: readonly InputImage[];
  readonly videos?: readonly InputVideo[];
  readonly signal?: AbortSignal;
  /** Name of the caller; waiting callers take turns. Default: all calls are of one caller. */
  readonly caller?: string;
}

/** Options of one execution. */
export interface ExecuteOptions {
  readonly signal?: AbortSignal;
  /** A shorter wall limit than the sandbox's, for this execution. */
  readonly wallSeconds?: number;
}

/** The Python of one trajectory: variables, files and figures persist between executions. */
export interface Session {
  /**
   * Runs code in the session's namespace. It never throws because of the code: that is the outcome.
   * After a kind that killed the interpreter (`timeout`, `memory`, `crashed`) the session is dead
   * and further calls give `crashed`, unless the outcome is marked `rolledBack`; after `infraError`
   * they give `infraError`.
   */
  execute(code: string, options?: ExecuteOptions): Promise<Outcome>;
  /** Ends the session's processes and removes its files. Idempotent. */
  dispose(): Promise<void>;
}

/**
 * Where sessions come from. Local and remote sandboxes implement it, and
 * `@saccade/sandbox/contract` checks it.
 */
export interface Sandbox {
  /** Isolation in force, decided at start: `bubblewrap`, `process`, `remote:bubblewrap`, … */
  readonly tier: string;
  /**
   * A fresh session; waits while the sandbox is at its session limit.
   *
   * @throws ConfigError for unknown capture options
   * @throws QueueFullError if too many wait already
   */
  open(options?: SessionOptions): Promise<Session>;
  /** Counters for metrics and leak tests. */
  stats(): {
    readonly open: number;
    readonly waiting: number;
    readonly started: number;
    readonly executions: number;
  };
  /**
   * Seconds that its processes have been on processors, those that have ended included. Absent, or
   * undefined, where that is not known.
   */
  processorSeconds?(): number | undefined;
  dispose(): Promise<void>;
}
