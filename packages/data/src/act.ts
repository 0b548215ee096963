/** Actions of a script that are no steps of a protocol's hand. */
import type { Action } from '@saccade/trajectory';

/** An action that is given as it is, for tools that no step stands for. */
export interface Act {
  readonly kind: 'act';
  readonly action: Action;
  /** What the demonstrator says before it. Default: nothing. */
  readonly thought?: string;
  /** Images that it has to show. Default 1. */
  readonly images?: number;
  /** Whether it is a mistake, which the environment has to refuse. Default false. */
  readonly isRefused?: boolean;
}
