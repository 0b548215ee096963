/** Ctrl-C and termination: the first asks the run to stop at the next safe point, the second ends it. */
import { type EventSink, StateError } from '@saccade/core';

export interface Interruption {
  /** True once a stop was asked for. */
  readonly isRequested: () => boolean;
  /** Takes the signal handlers away again. */
  dispose(): void;
}

/** Exit status of a process stopped by a second signal, as shells have it for SIGINT. */
const STOPPED = 130;

/** Listens for SIGINT and SIGTERM until disposed. */
export function listenForInterruption(onEvent: EventSink): Interruption {
  let isRequested = false;
  const onSignal = (signal: NodeJS.Signals): void => {
    if (isRequested) {
      onEvent({
        kind: 'warning',
        message: `${signal} again: stopped at once. The last checkpoint stands; continue with --resume.`,
      });
      process.exit(STOPPED);
    }
    isRequested = true;
    onEvent({
      kind: 'warning',
      message: `${signal}: finishing the current step and saving a checkpoint. Once more stops at once.`,
    });
  };
  process.on('SIGINT', onSignal);
  process.on('SIGTERM', onSignal);
  return {
    isRequested: () => isRequested,
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
