/** `state.json` of a checkpoint: everything besides weights and moments that resuming needs. */
import { join } from 'node:path';
import { messageOf } from '@saccade/core';
import { writeAndFlush } from './durable-files.ts';
import { type FileSystemOption, nodeFileSystem } from './file-system.ts';
import { isLink } from './metrics-log.ts';
import { StoreError, storeError } from './store-error.ts';

/** Where a run stands, apart from weights and moments. A resumed run continues from it. */
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
  /** Coefficients of the loss that follow what the run measures; absent where none does. */
  readonly coefficients?: StoredCoefficients;
  /** Bytes of metrics.jsonl that belong to this state. */
  readonly metricsBytes: number;
  /** The checksum to which the next row of metrics.jsonl is linked; absent in runs of format 1. */
  readonly metricsLink?: string;
  /** True once the last evaluation is written. */
  readonly isFinished: boolean;
}

/** The adaptive coefficients between two steps. */
interface StoredCoefficients {
  readonly kl?: number;
  readonly entropy?: { readonly coefficient: number; readonly applied: number };
}

/** The state of a run that has done nothing. */
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
const REMEDY = 'Resume from another checkpoint: move this one out of checkpoints/.';

/** @param directory of a checkpoint that is being written */
export function writeState(
  directory: string,
  state: RunState,
  { fileSystem = nodeFileSystem }: FileSystemOption = {},
): void {
  const text = `${JSON.stringify(state, null, 2)}\n`;
  writeAndFlush(fileSystem, join(directory, FILE), text);
}

/** @throws StoreError if the file is missing or no state */
export function readState(
  directory: string,
  { fileSystem = nodeFileSystem }: FileSystemOption = {},
): RunState {
  const path = join(directory, FILE);
  let bytes: Buffer;
  try {
    bytes = fileSystem.readFile(path);
  } catch (error) {
    throw storeError(path, error);
  }
  const problem = (text: string): StoreError =>
    new StoreError({ path, problem: text, remedy: REMEDY });
  let value: unknown;
  try {
    value = JSON.parse(bytes.toString('utf8'));
  } catch (error) {
    throw problem(`it is not JSON (${messageOf(error)})`);
  }
  if (typeof value !== 'object' || value === null) throw problem('it is not an object');
  const state = value as Record<string, unknown>;
  for (const [key, initial] of Object.entries(initialState)) {
    const isWhole = typeof initial === 'boolean' || isCount(state[key]);
    if (typeof state[key] === typeof initial && isWhole) continue;
    const expected = typeof initial === 'boolean' ? 'true or false' : 'a whole number from 0';
    throw problem(`${key} must be ${expected}, is ${JSON.stringify(state[key])}`);
  }
  const { metricsLink } = state;
  if (metricsLink !== undefined && !(typeof metricsLink === 'string' && isLink(metricsLink))) {
    throw problem(`metricsLink must name a row, is ${JSON.stringify(metricsLink)}`);
  }
  const { coefficients } = state;
  if (coefficients !== undefined && !areCoefficients(coefficients)) {
    throw problem(`coefficients must be numbers from 0, are ${JSON.stringify(coefficients)}`);
  }
  return value as RunState;
}

function areCoefficients(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  const { kl = 0, entropy = { coefficient: 0, applied: 0 } } = value as Record<string, unknown>;
  const { coefficient, applied } = (entropy ?? {}) as Record<string, unknown>;
  return [kl, coefficient, applied].every((one) => Number.isFinite(one));
}

function isCount(value: unknown): boolean {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
}

/** Steps of the whole run: updates of the cold start, then reinforcement-learning steps. */
export function totalSteps({
  sftUpdates,
  rlSteps,
}: Pick<RunState, 'sftUpdates' | 'rlSteps'>): number {
  return sftUpdates + rlSteps;
}
