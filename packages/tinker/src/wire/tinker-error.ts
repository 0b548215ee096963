/** The error of a learner behind the wire, on both of its ends. */
import { SaccadeError } from '@saccade/core';

/**
 * Who can mend it: `user` the request is wrong; `server` a fault of the server, or it is gone;
 * `capacity` it is busy for now.
 */
export type TinkerCategory = 'user' | 'server' | 'capacity';

/** Stable causes of an error, for programs. */
export type TinkerCode =
  | 'sequence-gap'
  | 'sequence-conflict'
  | 'stale-version'
  | 'foreign-incarnation'
  | 'missing-blobs'
  | 'unknown-model'
  | 'unknown-route'
  | 'unknown-future'
  | 'no-gradient'
  | 'models-full'
  | 'unsupported-optimizer'
  | 'draining'
  | 'disk'
  | 'engine-lost'
  | 'deadline'
  | 'lost-worker'
  | 'unfit'
  | 'other';

/** Fields of a `TinkerError` beside its message. */
export interface TinkerErrorDetails {
  readonly code?: TinkerCode;
  /** Field of the request, where one is wrong. */
  readonly field?: string;
  readonly status?: number;
  /** Further fields of the answer, such as the hashes of missing blobs. */
  readonly fields?: Readonly<Record<string, unknown>>;
  readonly cause?: unknown;
}

/**
 * A learner behind the wire cannot do what it was asked. It is never a reward: whoever trains stops,
 * or asks again.
 */
export class TinkerError extends SaccadeError {
  readonly category: TinkerCategory;
  readonly fault: TinkerCode;
  readonly field?: string;
  readonly status?: number;
  readonly fields: Readonly<Record<string, unknown>>;

  constructor(category: TinkerCategory, message: string, details: TinkerErrorDetails = {}) {
    super('learner', message, { cause: details.cause });
    this.category = category;
    this.fault = details.code ?? 'other';
    this.fields = details.fields ?? {};
    if (details.field !== undefined) this.field = details.field;
    if (details.status !== undefined) this.status = details.status;
  }

  /** Whether the learner lost what it had: a new one goes on from a checkpoint. */
  get isLoss(): boolean {
    const lost: readonly TinkerCode[] = [
      'foreign-incarnation',
      'unknown-model',
      'unknown-future',
      'lost-worker',
    ];
    return lost.includes(this.fault);
  }
}

/** A wrong field of a request. */
export function wrongField(field: string, message: string): TinkerError {
  return new TinkerError('user', `${field}: ${message}`, { field, status: 400 });
}
