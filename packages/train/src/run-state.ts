/** Where a run stands: everything besides weights and moments that resuming needs. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DataError, messageOf } from '@saccade/core';

export interface RunState {
  /** Updates of the cold start done. */
  readonly sftUpdates: number;
  /** True once the cold start, with its evaluation, is behind. */
  readonly isWarm: boolean;
  /** Reinforcement-learning steps done. */
  readonly rlSteps: number;
  /** Training tasks taken so far, demonstrations included. */
  readonly tasksTaken: number;
  /** Tokens computed for training so far. */
  readonly tokens: number;
  /** Bytes of metrics.jsonl that belong to this state. */
  readonly metricsBytes: number;
  /** True once the last evaluation is written. */
  readonly isFinished: boolean;
}

export const initialState: RunState = {
  sftUpdates: 0,
  isWarm: false,
  rlSteps: 0,
  tasksTaken: 0,
  tokens: 0,
  metricsBytes: 0,
  isFinished: false,
};

const FILE = 'state.json';

export function writeState(directory: string, state: RunState): void {
  writeFileSync(join(directory, FILE), `${JSON.stringify(state, null, 2)}\n`);
}

/** @throws DataError if the file is missing or no state */
export function readState(directory: string): RunState {
  const path = join(directory, FILE);
  let state: Partial<Record<keyof RunState, unknown>>;
  try {
    state = JSON.parse(readFileSync(path, 'utf8')) as typeof state;
  } catch (error) {
    throw new DataError(`${path} cannot be read: ${messageOf(error)}.`, { cause: error });
  }
  for (const [key, initial] of Object.entries(initialState)) {
    if (typeof state[key as keyof RunState] !== typeof initial) {
      throw new DataError(`${path} has no ${key}. It was written by another version.`);
    }
  }
  return state as RunState;
}
