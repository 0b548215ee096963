/** Ctrl-C and termination: the first asks the run to stop at the next safe point, the second ends it. */
import { type EventSink, type RunEvent, StateError } from '@saccade/core';
import { formatDuration } from './terminal-progress.ts';

export interface Interruption {
  /** True once a stop was asked for. */
  readonly isRequested: () => boolean;
  /** Aborted by the first request: ends what nothing is lost of. */
  readonly signal: AbortSignal;
  /** Passes a run's events on, and learns from them how long what is under way takes. */
  readonly onEvent: EventSink;
  /** Takes the signal handlers away again. */
  dispose(): void;
}

export interface InterruptionOptions {
  readonly onEvent: EventSink;
  /** What a process that is ended now leaves, and how to go on: a sentence or two. */
  readonly leaves: () => string;
  /** Milliseconds, monotonic. */
  readonly now?: () => number;
}

/** Exit status of a process stopped by a second signal, as shells have it for SIGINT. */
const STOPPED = 130;

/** Listens for SIGINT and SIGTERM until disposed. */
export function listenForInterruption(options: InterruptionOptions): Interruption {
  const { leaves, now = () => performance.now() } = options;
  const aborting = new AbortController();
  const work = new WorkUnderWay(now);
  const warn = (message: string): void => options.onEvent({ kind: 'warning', message });
  const onSignal = (signal: NodeJS.Signals): void => {
    if (aborting.signal.aborted) {
      warn(`${signal} again: stopped at once. ${leaves()}`);
      process.exit(STOPPED);
    }
    warn(`${signal}: ${work.describe()} Once more stops at once.`);
    aborting.abort();
  };
  process.on('SIGINT', onSignal);
  process.on('SIGTERM', onSignal);
  return {
    isRequested: () => aborting.signal.aborted,
    signal: aborting.signal,
    onEvent(event) {
      if (event.kind === 'progress') work.note(event);
      options.onEvent(event);
    },
    dispose() {
      process.off('SIGINT', onSignal);
      process.off('SIGTERM', onSignal);
    },
  };
}

/** A signal that a first SIGINT or SIGTERM aborts; a second one ends the process. */
export function abortOnInterruption(onEvent: EventSink): {
  readonly signal: AbortSignal;
  dispose(): void;
} {
  const controller = new AbortController();
  const onSignal = (signal: NodeJS.Signals): void => {
    if (controller.signal.aborted) process.exit(STOPPED);
    const message = `${signal}: stopped; what was drawn is kept. Continue with the same command.`;
    onEvent({ kind: 'warning', message });
    controller.abort(new StateError(`${signal} stopped the evaluation.`));
  };
  process.on('SIGINT', onSignal);
  process.on('SIGTERM', onSignal);
  return {
    signal: controller.signal,
    dispose() {
      process.off('SIGINT', onSignal);
      process.off('SIGTERM', onSignal);
    },
  };
}

type Progress = RunEvent & { readonly kind: 'progress' };

/** What a stop has to wait for, by the progress of the run. */
class WorkUnderWay {
  readonly #now: () => number;
  #last: Progress | undefined;
  /** When the stage began, and when its last unit ended. */
  #startedAt = 0;
  #startedFrom = 0;
  #lastAt = 0;
  /** Seconds that the last unit of a stage took. */
  readonly #unitSeconds = new Map<string, number>();

  constructor(now: () => number) {
    this.#now = now;
  }

  note(event: Progress): void {
    const now = this.#now();
    if (this.#last?.stage !== event.stage) {
      this.#startedAt = now;
      this.#startedFrom = event.done;
    } else if (event.done > this.#last.done) {
      const units = event.done - this.#last.done;
      this.#unitSeconds.set(event.stage, (now - this.#lastAt) / 1000 / units);
    }
    this.#last = event;
    this.#lastAt = now;
  }

  describe(): string {
    const stage = this.#last?.stage ?? '';
    if (stage === 'cold start' || stage === 'learning') {
      const what = stage === 'learning' ? 'step' : 'update';
      return `finishing this ${what} and saving a checkpoint${this.#about(this.#unitLeft(stage))}.`;
    }
    if (stage.startsWith('evaluation')) {
      return `finishing the evaluation and saving a checkpoint${this.#about(this.#stageLeft())}.`;
    }
    return 'stopping; nothing that was learned is lost.';
  }

  #about(seconds: number | undefined): string {
    if (seconds === undefined) return '; how long that takes is not known yet';
    return `, about ${formatDuration(Math.max(1, seconds))}`;
  }

  /** Of the unit that is under way. */
  #unitLeft(stage: string): number | undefined {
    const whole = this.#unitSeconds.get(stage);
    return whole === undefined ? undefined : whole - (this.#now() - this.#lastAt) / 1000;
  }

  /** Of a stage that has no safe point inside. */
  #stageLeft(): number | undefined {
    const { done = 0, total = 0 } = this.#last ?? {};
    const units = done - this.#startedFrom;
    if (units <= 0) return undefined;
    const perUnit = (this.#lastAt - this.#startedAt) / 1000 / units;
    return perUnit * (total - done) - (this.#now() - this.#lastAt) / 1000;
  }
}
