/** Faults around a learner that are not its own: its disk, and engines that it publishes to. */
import type { EventSink } from '@saccade/core';
import { EngineError } from '@saccade/policy/remote';
import { TinkerError } from '../wire/tinker-error.ts';

/**
 * Saves, unless the learner's disk does not take it. A run can go on without: there is more to repeat
 * after a loss, until another save succeeds.
 */
export async function unlessFull(
  onEvent: EventSink | undefined,
  save: () => Promise<void>,
): Promise<void> {
  try {
    await save();
  } catch (error) {
    if (!(error instanceof TinkerError) || error.fault !== 'disk') throw error;
    const message = `${error.message} Until then a loss of the learner costs more steps.`;
    onEvent?.({ kind: 'warning', message });
  }
}

/** The error of an engine that the learner could not reach, in the words of engines; others as they are. */
export function engineError(error: unknown): unknown {
  const isLost = error instanceof TinkerError && error.fault === 'engine-lost';
  return isLost ? new EngineError('broken', error.message, { cause: error }) : error;
}
