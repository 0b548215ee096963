/** Ctrl-C and termination: the first asks the run to stop at the next safe point, the second ends it. */
import type { EventSink } from '@saccade/core';

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
