/** How a model talks to its tools: the prompt, what stops it, how its text is read and answered. */

import type { Outcome } from '@saccade/sandbox';
import type { Tool } from '@saccade/tools';
import type { Action, StopReason } from '@saccade/trajectory';
import type { Budgets } from './budgets.ts';
import type { CodeRuntime } from './code-runtime.ts';
import type { Hand } from './hand.ts';
import type { Task } from './task.ts';

/** Content before it is tokenized; images are PNG bytes with the name the protocol gives them. */
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
        readonly map: readonly [number, number, number, number, number, number];
      };
    };

/** Where in its trajectory an observation stands. */
export interface ObservationPlace {
  /** Index of the first new image in this trajectory. */
  readonly imageIndex: number;
  /** Tool turns that are left after this one; with none left, only an answer counts. */
  readonly callsLeft: number;
}

/**
 * The language between a model and its tools, as a paper publishes it: it writes prompts and
 * observations, and parses what the model writes. A protocol is pure. It runs nothing;
 * `createToolEnv` does.
 */
export interface Protocol {
  readonly name: string;
  /** Where it is published: paper and section. */
  readonly paper: string;
  /** Generation stops at these; they stay in the text. */
  readonly stop: readonly string[];
  /**
   * Names of its tags, as regular expressions without the brackets, e.g. `answer`. Where a program
   * prints one, the observation has it escaped: only the protocol and the model write tags.
   */
  readonly tags: readonly string[];
  /** As published for training; the default of an environment. */
  readonly budgets: Budgets;
  /** As published for evaluation, where that differs. */
  readonly evaluationBudgets?: Budgets;
  /** Seconds that one execution may take, as published; default: the sandbox's limit. */
  readonly executionSeconds?: number;
  /**
   * Whether a tool turn beyond the budget still runs, although the model does not see its result.
   */
  readonly runsBeyondBudget: boolean;
  /** The session that its code runs in; default: one that has the prompt's images. */
  readonly runtime?: CodeRuntime;
  /** Tools that calls may name. */
  readonly tools?: readonly Tool[];
  /** False where what programs print is not shown to the model. Default true. */
  readonly showsOutput?: boolean;
  /**
   * The one user turn that opens a trajectory, and the system text if the protocol has one. Its
   * images are those the runtime has, by the names they are given here.
   */
  prompt(task: Task): { readonly system?: string; readonly user: readonly MessagePart[] };
  /** Reads one model turn, and nothing else: observations are never parsed. Never throws. */
  parse(text: string): Action;
  /**
   * Writes a turn that `parse` reads as this action and the format rewards accept.
   *
   * @param thought what the model says before it acts
   * @throws DataError if the protocol cannot express such an action
   */
  write(action: Action, thought?: string): string;
  /** How scripted demonstrators act in it; without one, no cold start can show it. */
  readonly hand?: Hand;
  /** The user turn that answers an execution or a tool call. */
  observe(outcome: Outcome, place: ObservationPlace): readonly MessagePart[];
  /** The user turn that answers a turn that could not be parsed; without one, it ends there. */
  observeInvalid?(reason: string, place: ObservationPlace): readonly MessagePart[] | undefined;
  /** Whether the trajectory ends after this outcome, and why; undefined to go on. */
  endsOn(outcome: Outcome): StopReason | undefined;
}
