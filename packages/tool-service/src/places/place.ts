/** Where tools run: in this process, or in processes of their own. */
import type { GivenArguments, ToolImage } from '@saccade/tools';
import type { CallFault } from '../faults.ts';
import type { DescribedTool } from '../wire.ts';

/** One call as a place makes it. */
export interface PlacedCall {
  readonly given: GivenArguments;
  readonly images: readonly ToolImage[];
  /** Aborts when nobody waits for the outcome any more, with a `CallFault` as its reason. */
  readonly signal: AbortSignal;
  /** Longest that it may run, its wait excluded: what hangs keeps its place no longer. */
  readonly runMs: number;
}

/** How a call ended; what the tool gave is not checked yet. */
export type Settled = { readonly outcome: unknown } | { readonly fault: CallFault };

/** Told how the call of that index among its batch ended. */
export type OnSettled = (index: number, settled: Settled) => void;

/** Something that makes calls of its tools, until it is disposed of. */
export interface Place {
  readonly name: string;
  readonly tools: readonly DescribedTool[];
  /** Pieces of work at a time: more of them would wait inside. */
  readonly slots: number;
  /** Why its tools are not ready; undefined once each has answered its example. */
  problem(): string | undefined;
  /**
   * Makes calls of one tool in one piece of work. Never throws; resolves once it has room for more.
   *
   * @param onSettled hears of each call's end as soon as it is known, once for each
   */
  run(tool: string, calls: readonly PlacedCall[], onSettled: OnSettled): Promise<void>;
  dispose(): Promise<void>;
}

/** Told what places do, for metrics. */
export interface PlaceEvents {
  /** A process ended and was started again. */
  onRestart?(place: string, cause: string): void;
  /** Something that a person should know. */
  onWarning?(message: string): void;
}
