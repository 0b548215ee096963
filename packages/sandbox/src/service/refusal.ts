/** A request that is answered with an error: what is wrong, what to do, and whether to come again. */
import { DataError, messageOf, SaccadeError } from '@saccade/core';
import type { Context } from 'hono';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import type { z } from 'zod';
import { QueueFullError, SandboxError } from '../errors.ts';

export interface RefusalOptions {
  readonly status: ContentfulStatusCode;
  /** Stable, for programs. */
  readonly code: string;
  readonly fact: string;
  readonly remedy: string;
  /** Nothing was started, and later it may be: when to ask again. */
  readonly retryAfterSeconds?: number;
}

export class Refusal extends SaccadeError {
  readonly options: RefusalOptions;

  constructor(options: RefusalOptions) {
    super(options.code, `${options.fact} ${options.remedy}`);
    this.options = options;
  }
}

export function badRequest(fact: string): Refusal {
  const remedy = 'Send a body of the form that the README of the service shows.';
  return new Refusal({ status: 400, code: 'bad-request', fact, remedy });
}

/** What went wrong in a handler, as an answer. */
export function asRefusal(error: unknown): Refusal {
  if (error instanceof Refusal) return error;
  const fact = messageOf(error);
  if (error instanceof QueueFullError) {
    const remedy = 'Try again later.';
    return new Refusal({ status: 429, code: error.code, fact, remedy, retryAfterSeconds: 1 });
  }
  if (error instanceof DataError) {
    const remedy = 'Send something else.';
    return new Refusal({ status: 400, code: error.code, fact, remedy });
  }
  if (error instanceof SandboxError) {
    const remedy = 'Open a new session and try again.';
    return new Refusal({ status: 500, code: error.code, fact, remedy });
  }
  const remedy = 'This is a fault of the service; its log has the stack.';
  return new Refusal({ status: 500, code: 'fault', fact, remedy });
}

export function answerRefusal(context: Context, { options }: Refusal): Response {
  const { status, code, fact, remedy, retryAfterSeconds } = options;
  if (retryAfterSeconds !== undefined) context.header('retry-after', String(retryAfterSeconds));
  // `detail` is where clients of SandboxFusion and verl-tool look.
  return context.json({ error: { code, fact, remedy }, detail: `${fact} ${remedy}` }, status);
}

/** @throws Refusal for a body that is no JSON or does not fit */
export async function bodyOf<Schema extends z.ZodType>(
  context: Context,
  schema: Schema,
): Promise<z.output<Schema>> {
  let body: unknown;
  try {
    body = await context.req.json();
  } catch (error) {
    if (error instanceof Refusal) throw error;
    throw badRequest('The body is no JSON.');
  }
  const parsed = schema.safeParse(body);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const place = issue?.path.map(String).join('.') ?? '';
  throw badRequest(`${place === '' ? 'The body' : `"${place}"`} does not fit: ${issue?.message}.`);
}
