/** How a model talks to its tools: the prompt, what stops it, how its text is read and answered. */

import type { Outcome } from '@saccade/sandbox';
import type { Action, StopReason } from '@saccade/trajectory';
import type { Task } from './task.ts';

/** Content before it is tokenised; pictures are PNG bytes with the name the protocol gives them. */
export type MessagePart =
  | { readonly kind: 'text'; readonly text: string }
  | {
      readonly kind: 'image';
      readonly name: string;
      readonly png: Uint8Array;
      readonly width: number;
      readonly height: number;
      readonly origin?: {
        readonly image: string;
        readonly map: readonly [number, number, number, number];
      };
    };

export interface Protocol {
  readonly name: string;
  /** Generation stops at these; they stay in the text. */
  readonly stop: readonly string[];
  /** The one user turn that opens a trajectory, and the system text if the protocol has one. */
  prompt(task: Task): { readonly system?: string; readonly user: readonly MessagePart[] };
  /** Reads one model turn. */
  parse(text: string): Action;
  /**
   * The user turn that answers an execution.
   * @param imageIndex index of the first new picture in this trajectory
   */
  observe(outcome: Outcome, imageIndex: number): readonly MessagePart[];
  /** Whether the trajectory ends after this outcome, and why; undefined to go on. */
  endsOn(outcome: Outcome): StopReason | undefined;
}
