/** Messages between the page and the training worker; all of them can be cloned. */
import type { RunEvent } from '../training/run.ts';

export interface StartRequest {
  readonly kind: 'start';
  /** Name of a preset. */
  readonly preset: string;
  readonly algorithm: string;
  readonly hasToolBonus: boolean;
  readonly seed: number;
  /** Whether it starts from the weights that come with the page, after a cold start. */
  readonly isWarm: boolean;
  /** Updates of the cold start, and steps of reinforcement learning. */
  readonly updates: number;
  readonly steps: number;
}

export type Request = StartRequest | { readonly kind: 'pause' } | { readonly kind: 'resume' };

/** An error on its way to the page: classes do not survive the way, their codes do. */
export interface Fault {
  /** `code` of a SaccadeError, e.g. `missing`; `unknown` for anything else. */
  readonly code: string;
  readonly message: string;
}

export type Reply =
  | RunEvent
  /** The policy stands and begins to learn. */
  | { readonly kind: 'started'; readonly device: string; readonly parameters: number }
  | { readonly kind: 'finished' }
  | { readonly kind: 'failed'; readonly fault: Fault };
