/** Limits of a session, each with its default and the reason for it. */

export interface Limits {
  /** Wall clock of one execution. PyVision-RL waits 30 s; code that helps is done in one. */
  readonly wallSeconds: number;
  /** CPU time of one execution, as the kernel counts it: rounded up to a whole second. */
  readonly cpuSeconds: number;
  /**
   * Address space of the session's process. numpy, Pillow and matplotlib need about
   * 400 MiB of it, PyAV 100 and OpenCV 300 more.
   */
  readonly memoryBytes: number;
  /**
   * Memory of a session as a whole: all its processes, what they share, its files where they are in
   * memory, and what the kernel needs for them. Default `memoryBytes` + `diskBytes`: what one process
   * and the files may take each, they may take together, and more processes no more than one.
   * Enforced where there are control groups (guarantee `memory: 'session'`).
   */
  readonly sessionMemoryBytes: number;
  /** Bytes kept of each of stdout and stderr per execution: more than a model's context takes. */
  readonly outputBytes: number;
  /** Images kept per execution: as many as a whole trajectory may hold. */
  readonly imageCount: number;
  /** Pixels of one captured image: a policy sees no more of it. */
  readonly imagePixels: number;
  /** Pixels of one image that is opened: one of 8K fits, and a decompression bomb does not. */
  readonly openedPixels: number;
  /** Size of one video file; it is sent to the server in one piece of at most 64 MiB. */
  readonly videoBytes: number;
  /** Frames of one video, each of at most `imagePixels`: the times of all are read at the start. */
  readonly videoFrames: number;
  /**
   * Longest over shortest side of a captured image; the model's image processor refuses above 200.
   */
  readonly imageAspect: number;
  /** Size of any file the code writes: a PNG of the largest allowed image fits, a dump does not. */
  readonly fileBytes: number;
  /** Files open at once: libraries open a few at a time, more is a leak. */
  readonly openFiles: number;
  /**
   * Room for all files of a session, in memory. Input images and crops take a few MiB. Enforced
   * where each session has a file system of its own (guarantee `disk: 'session'`).
   */
  readonly diskBytes: number;
  /** Files and directories of a session, under the same condition. */
  readonly files: number;
  /**
   * Processes and threads of a session; for all sessions together where they share a user. Code needs
   * one; libraries start a few threads.
   */
  readonly processes: number;
}

/** The limits of a session unless the sandbox is opened with others. */
export const defaultLimits: Limits = {
  wallSeconds: 10,
  cpuSeconds: 10,
  memoryBytes: 1024 * 1024 * 1024,
  sessionMemoryBytes: (1024 + 64) * 1024 * 1024,
  outputBytes: 16 * 1024,
  imageCount: 8,
  imagePixels: 16 * 1024 * 1024,
  openedPixels: 40 * 1024 * 1024,
  videoBytes: 48 * 1024 * 1024,
  videoFrames: 100_000,
  imageAspect: 200,
  fileBytes: 32 * 1024 * 1024,
  openFiles: 64,
  diskBytes: 64 * 1024 * 1024,
  files: 4096,
  processes: 8,
};
