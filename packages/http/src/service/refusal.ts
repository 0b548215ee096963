/** A request answered with an error: what is wrong, what to do, and whether to come again. */
import { SaccadeError } from '@saccade/core';
import type { ContentfulStatusCode } from 'hono/utils/http-status';

/** A limit or rule of access that a client broke; counted and reported under this name. */
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

export interface RefusalOptions {
  readonly status: ContentfulStatusCode;
  /** Stable, for programs. */
  readonly code: string;
  readonly fact: string;
  readonly remedy: string;
  /** Nothing was started, and later it may be: when to ask again. */
  readonly retryAfterSeconds?: number;
  /** The rule that the client broke, where it is one of the kit's. */
  readonly rule?: Rule;
}

export class Refusal extends SaccadeError {
  readonly options: RefusalOptions;

  constructor(options: RefusalOptions) {
    super(options.code, `${options.fact} ${options.remedy}`);
    this.options = options;
  }
}

/** JSON of a refusal. Protocols of others word theirs differently. */
export type RefusalWording = (refusal: RefusalOptions) => object;

/** `{error: {code, fact, remedy}}` */
export const plainWording: RefusalWording = ({ code, fact, remedy }) => ({
  error: { code, fact, remedy },
});

export function badRequest(fact: string): Refusal {
  const remedy = 'Send a body of the form that the README of the service shows.';
  return new Refusal({ status: 400, code: 'bad-request', fact, remedy });
}

/** The answer to a refused request. */
export function refusalResponse(options: RefusalOptions, wording: RefusalWording): Response {
  const { status, retryAfterSeconds } = options;
  return Response.json(wording(options), {
    status,
    ...(retryAfterSeconds !== undefined && {
      headers: { 'retry-after': String(retryAfterSeconds) },
    }),
  });
}
