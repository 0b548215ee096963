/** A peer: another library that has some of our ops. It gets our data, and its result is checked. */
import type { DType } from '@saccade/core';
import type { Dims, Scalars } from '@saccade/ops';
import type { Pass } from '../prepared-case.ts';
import type { Ratio, Sample } from '../statistics.ts';

/** A host array in its stored form: bf16 as 16-bit patterns. */
export interface PeerArray {
  readonly dtype: DType;
  readonly shape: readonly number[];
  readonly data: ArrayBufferView;
}

export interface PeerTask {
  readonly op: string;
  readonly pass: Pass;
  readonly dtype: DType;
  readonly dims: Dims;
  readonly scalars: Scalars;
  readonly inputs: Readonly<Record<string, PeerArray>>;
  /** Gradients of the differentiable outputs; empty for a forward. */
  readonly gradOutputs: Readonly<Record<string, PeerArray>>;
}

/** A peer that is ready to do a task. */
export interface PeerRun {
  /**
   * The results of the first run, by our names: outputs for a forward, else gradients of inputs.
   * Those that the peer does not compute are left out.
   */
  readonly results: Readonly<Record<string, ArrayLike<number>>>;
  /** Seconds of the run that gave the results, where known. */
  readonly firstSeconds?: number;
  /** A note on how the peer does it here. */
  readonly note?: string;
  /** Runs it so many times in a row and gives the seconds of one. */
  time(launches: number): Promise<number>;
  dispose(): Promise<void>;
}

export interface Peer {
  readonly name: string;
  /** Version of the library, and what limits it here. */
  readonly version: string;
  /** Gets ready and runs once; a sentence where the peer does not have it. */
  prepare(task: PeerTask): Promise<PeerRun | string>;
  dispose(): Promise<void>;
}

/** One peer beside us at one task. */
export type PeerResult =
  | {
      readonly peer: string;
      readonly seconds: Sample;
      /** Peer's time / ours, of turns next to each other: above 1 we are faster. */
      readonly ratio: Ratio;
      /** Largest relative difference of a result from ours; NaN where none can be compared. */
      readonly difference: number;
      readonly note?: string;
      /** Where it and ours were measured, if not in this process, and our time there. */
      readonly where?: string;
      readonly ours?: Sample;
    }
  | { readonly peer: string; readonly missing: string };
