/** Errors as the wire says them: `{error, category, field?, code?}`. */
import { SaccadeError } from '@saccade/core';
import { Refusal, type RefusalOptions, type RefusalWording } from '@saccade/http/service';
import { TinkerError } from '../wire/tinker-error.ts';

const STATUSES: readonly RefusalOptions['status'][] = [400, 401, 404, 409, 410, 413, 429, 503];

/** A refusal that carries more than its words. */
interface LearnerRefusal extends RefusalOptions {
  readonly tinker?: TinkerError;
}

export const learnerWording: RefusalWording = (options) => {
  const { status, code, fact, remedy } = options;
  const { tinker } = options as LearnerRefusal;
  if (tinker !== undefined) {
    const { message, category, fault, field, fields } = tinker;
    const named = fault === 'other' ? {} : { code: fault };
    return { error: message, category, ...(field && { field }), ...named, ...fields };
  }
  const category =
    status === 429 || status === 503 ? 'capacity' : status >= 500 ? 'server' : 'user';
  return { error: `${fact} ${remedy}`, category, code };
};

/** The refusal of an error of ours; undefined for a fault. */
export function refusalOf(error: unknown): Refusal | undefined {
  if (error instanceof TinkerError) {
    const { status = 400, message, fault, category } = error;
    const options: LearnerRefusal = {
      status: STATUSES.find((known) => known === status) ?? 400,
      code: fault,
      fact: message,
      remedy: '',
      tinker: error,
      ...(category === 'capacity' && { retryAfterSeconds: 1 }),
    };
    return new Refusal(options);
  }
  if (!(error instanceof SaccadeError)) return undefined;
  return new Refusal({ status: 400, code: error.code, fact: error.message, remedy: '' });
}
