/** Refusals: errors as answers, each with a fact, a remedy, and whether to retry. */
import { SaccadeError } from '@saccade/core';
import type { ContentfulStatusCode } from 'hono/utils/http-status';

/** A limit or access rule of the kit. Violations are counted and reported under this name. */
export type Rule =
  | 'host'
  | 'origin'
  | 'token'
  | 'method'
  | 'malformed'
  | 'body-size'
  | 'json-depth'
  | 'json-values'
  | 'concurrency'
  | 'rate'
  | 'connections'
  | 'slow-headers'
  | 'slow-body'
  | 'slow-reader';

/** The contents of a refusal. */
export interface RefusalOptions {
  readonly status: ContentfulStatusCode;
  /** Stable name of the cause, for programs. */
  readonly code: string;
  /** The fault, in a sentence. */
  readonly fact: string;
  /** The client's remedy, in a sentence. */
  readonly remedy: string;
  /** Sent as `Retry-After`: nothing was started, and the client may retry after this time. */
  readonly retryAfterSeconds?: number;
  /** The rule of the kit that the client broke, if any; it is counted. */
  readonly rule?: Rule;
}

/** Throw it in a handler to answer with an error; the app turns it into the response. */
export class Refusal extends SaccadeError {
  readonly options: RefusalOptions;

  constructor(options: RefusalOptions) {
    super(options.code, `${options.fact} ${options.remedy}`);
    this.options = options;
  }
}

/** Makes the JSON body of a refusal, for services that follow another project's protocol. */
export type RefusalWording = (refusal: RefusalOptions) => object;

/** The default wording: `{error: {code, fact, remedy}}`. */
export const plainWording: RefusalWording = ({ code, fact, remedy }) => ({
  error: { code, fact, remedy },
});

/**
 * A refusal with status 400 and code `bad-request`, for a body that does not have the right form.
 */
export function badRequest(fact: string): Refusal {
  const remedy = 'Send a body of the form that the README of the service shows.';
  return new Refusal({ status: 400, code: 'bad-request', fact, remedy });
}

/** The response to a refused request. */
export function refusalResponse(options: RefusalOptions, wording: RefusalWording): Response {
  const { status, retryAfterSeconds } = options;
  return Response.json(wording(options), {
    status,
    ...(retryAfterSeconds !== undefined && {
      headers: { 'retry-after': String(retryAfterSeconds) },
    }),
  });
}
