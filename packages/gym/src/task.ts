/** A task: a question about images with a known answer. A task set makes tasks by index. */
import type { EventSink } from '@saccade/core';
import type { Hub } from '@saccade/hub';
import type { Sandbox } from '@saccade/sandbox';

/** An image of a task, as the sandbox gets it. The model may see a smaller version. */
export interface TaskImage {
  /** Name in the runtime, e.g. `image_clue_0`. */
  readonly name: string;
  /** PNG bytes at original resolution. */
  readonly png: Uint8Array;
  readonly width: number;
  readonly height: number;
}

/** A video that the runtime opens; the model gets to see only the frames it asks for. */
export interface TaskVideo {
  /** Name in the runtime, e.g. `video_clue_0`. */
  readonly name: string;
  /** The file's bytes, in any format that FFmpeg reads. */
  readonly encoded: Uint8Array;
  readonly width: number;
  readonly height: number;
  readonly framesPerSecond: number;
  readonly frameCount: number;
}

/** One question with its images or videos and its reference answer. */
export interface Task {
  /** Unique and stable: the same id is the same task in every run. */
  readonly id: string;
  readonly question: string;
  readonly images: readonly TaskImage[];
  readonly videos?: readonly TaskVideo[];
  readonly answer: string;
  /** Facts for verifiers, demonstrations and reports, e.g. the box of the thing asked about. */
  readonly metadata: Readonly<Record<string, unknown>>;
}

/** `train` for demonstrations and rollouts; `heldOut` for evaluation alone. */
export type Split = 'train' | 'heldOut';

/** The resources that a run offers a task set that opens something. */
export interface TaskSetContext {
  readonly sandbox: Sandbox;
  /** Where published data sets are downloaded from; absent: nowhere. */
  readonly hub?: Hub;
  readonly onEvent?: EventSink;
}

/** Facts of one data set that tasks come from, for the record of a run. */
export interface DataFacts {
  /** As `metadata.source` of its tasks. */
  readonly name: string;
  /** Path, or name on a hub. */
  readonly from: string;
  readonly format: string;
  readonly mapping: string;
  readonly title?: string;
  /** As its card says. */
  readonly license: string;
  readonly trainRows: number;
  readonly heldOutRows: number;
  readonly sizeBytes: number;
}

/**
 * Where tasks come from. A task is made from its index, so a run stores only how many tasks it has
 * used, and a resumed run continues with the next one.
 */
export interface TaskSet {
  readonly name: string;
  /** One sentence for people. */
  readonly description: string;
  /** Number of different tasks, or Infinity where they are generated. */
  size(split: Split): number;
  /** The task at an index: pure, the same index gives the same task. */
  task(split: Split, index: number): Promise<Task>;
  /**
   * Reads what has to be read before `size` and `task` can answer; gives the task set to use. A run
   * calls it once. Default: nothing has to be read.
   */
  open?(context: TaskSetContext): Promise<TaskSet>;
  /** The data sets that tasks come from, with their licenses; once it is open. */
  facts?(): readonly DataFacts[];
  /** Closes what `open` opened. */
  dispose?(): Promise<void>;
}
