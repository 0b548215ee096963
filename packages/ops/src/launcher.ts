/** Decides whether a launch runs on the backend, visibly on the fallback, or not at all. */
import { type DType, type EventSink, UnsupportedError } from '@saccade/core';
import type { Backend, BufferView, Direction, Launch } from './backend.ts';
import { runElsewhere } from './fallback.ts';
import type { Dims, Op, Scalars } from './op.ts';
import { formOf, type OperandSlot } from './op-form.ts';
import type { WorkQueue } from './work-queue.ts';

/** A launch that is known to be possible, before its results are allocated. */
export interface LaunchPlan {
  readonly op: Op;
  readonly direction: Direction;
  readonly dims: Dims;
  readonly scalars: Scalars;
  /** Why the backend cannot run it, so that the fallback must; `undefined` if it can. */
  readonly refusal: string | undefined;
}

export interface LauncherOptions {
  readonly strict?: boolean;
  readonly fallback?: Backend;
  readonly onEvent?: EventSink;
}

export class Launcher {
  readonly #backend: Backend;
  readonly #fallback: Backend | undefined;
  readonly #onEvent: EventSink | undefined;
  readonly #queue: WorkQueue;
  readonly #reported = new Set<string>();

  constructor(backend: Backend, queue: WorkQueue, options: LauncherOptions) {
    this.#backend = backend;
    this.#queue = queue;
    this.#fallback = (options.strict ?? true) ? undefined : options.fallback;
    this.#onEvent = options.onEvent;
  }

  /** @throws UnsupportedError if neither the backend nor the fallback can run it */
  plan(
    op: Op,
    direction: Direction,
    dims: Dims,
    scalars: Scalars,
    dtypeOf: (slot: OperandSlot) => DType | undefined,
  ): LaunchPlan {
    const dtypes = formOf(op).order[direction].map(dtypeOf);
    const answer = this.#backend.supports(op, direction, dtypes, dims);
    if (answer === true) return { op, direction, dims, scalars, refusal: undefined };
    const fact = `${op.id}: backend ${this.#backend.name} cannot run the ${direction}: ${answer}`;
    if (this.#fallback === undefined) {
      throw new UnsupportedError(
        `${fact} Use another backend, or open the device with strict: false and a fallback.`,
      );
    }
    const second = this.#fallback.supports(op, direction, dtypes, dims);
    if (second !== true) {
      throw new UnsupportedError(
        `${fact} Nor can the fallback ${this.#fallback.name}: ${second} Use another backend.`,
      );
    }
    return { op, direction, dims, scalars, refusal: answer };
  }

  launch(plan: LaunchPlan, viewOf: (slot: OperandSlot) => BufferView | undefined): void {
    const { op, direction, dims, scalars, refusal } = plan;
    const operands = formOf(op).order[direction].map(viewOf);
    const launch: Launch = { op, direction, operands, dims, scalars };
    const fallback = this.#fallback;
    if (refusal === undefined || fallback === undefined) {
      this.#queue.add(() => this.#backend.dispatch(launch));
      return;
    }
    this.#report(plan, fallback, refusal);
    this.#queue.add(() => runElsewhere(this.#backend, fallback, launch));
  }

  /** Once for each op, direction and reason: a loop over layers should not fill the log. */
  #report({ op, direction }: LaunchPlan, fallback: Backend, reason: string): void {
    const key = `${op.id} ${direction} ${reason}`;
    if (this.#reported.has(key)) return;
    this.#reported.add(key);
    this.#onEvent?.({
      kind: 'fallback',
      op: op.id,
      from: this.#backend.name,
      to: fallback.name,
      reason,
    });
  }
}
