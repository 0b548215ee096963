/** The app of a service: its routes read bounded bodies, and every error becomes a refusal. */
import { messageOf } from '@saccade/core';
import { type Context, Hono } from 'hono';
import type { z } from 'zod';
import { type BodyLimits, BodyReader } from './body-reader.ts';
import { callOf } from './call.ts';
import {
  badRequest,
  plainWording,
  Refusal,
  type RefusalOptions,
  type RefusalWording,
  refusalResponse,
} from './refusal.ts';

declare module 'hono' {
  interface ContextVariableMap {
    readonly saccadeBodies: BodyReader;
    /** The body, if a middleware read it before the handler. */
    readonly saccadeText: string | undefined;
  }
}

/** Options of `newServiceApp`. */
export interface ServiceAppOptions {
  /** A list of the routes, for the answer to an unknown one: `GET /health, POST /double`. */
  readonly routes: string;
  /** Limits of request bodies. */
  readonly bodies?: BodyLimits;
  /** Makes the JSON of refusals. Default: `{error: {code, fact, remedy}}`. */
  readonly wording?: RefusalWording;
  /** Turns the service's own errors into refusals. An error without one is a fault. */
  readonly asRefusal?: (error: unknown) => Refusal | undefined;
  /**
   * Receives faults, that is, unexpected errors; they are answered with 500. Default
   * `console.error`.
   */
  readonly onFault?: (error: unknown) => void;
}

/**
 * Makes a Hono app without routes, in which bodies are bounded and errors become refusals.
 * `openService` serves it; tests may call it directly with `app.request`.
 */
export function newServiceApp(options: ServiceAppOptions): Hono {
  const { routes, wording = plainWording, asRefusal, onFault = console.error } = options;
  const bodies = new BodyReader(options.bodies);
  const app = new Hono();
  app.use(async (context, next) => {
    context.set('saccadeBodies', bodies);
    await next();
    callOf(context).route = context.req.routePath;
  });
  const refuse = (context: Context, refusal: RefusalOptions): Response => {
    if (refusal.rule !== undefined) callOf(context).report(refusal.rule, refusal.fact);
    return refusalResponse(refusal, wording);
  };
  app.notFound((context) => {
    const fact = `There is no ${context.req.method} ${context.req.path.slice(0, 200)}.`;
    const remedy = `Use one of: ${routes}.`;
    return refuse(context, { status: 404, code: 'unknown-route', fact, remedy });
  });
  app.onError((error, context) => {
    if (error instanceof Refusal) return refuse(context, error.options);
    const own = asRefusal?.(error);
    if (own !== undefined) return refuse(context, own.options);
    if (!callOf(context).signal.aborted) onFault(error);
    const remedy = 'This is a fault of the service; its log has the stack.';
    return refuse(context, { status: 500, code: 'fault', fact: messageOf(error), remedy });
  });
  return app;
}

/** Reads the body as JSON of the schema, and as text. @throws Refusal if the body does not fit */
export async function readJson<Schema extends z.ZodType>(
  context: Context,
  schema: Schema,
): Promise<{ readonly body: z.output<Schema>; readonly text: string }> {
  const text = await stashText(context);
  const value = context.get('saccadeBodies').parse(text);
  const parsed = schema.safeParse(value);
  if (parsed.success) return { body: parsed.data, text };
  const [issue] = parsed.error.issues;
  const place = (issue?.path.map(String).join('.') ?? '').slice(0, 100);
  const what = issue?.message.slice(0, 500);
  throw badRequest(`${place === '' ? 'The body' : `"${place}"`} does not fit: ${what}.`);
}

/** Reads the body as JSON of the schema. @throws Refusal if the body does not fit */
export async function bodyOf<Schema extends z.ZodType>(
  context: Context,
  schema: Schema,
): Promise<z.output<Schema>> {
  return (await readJson(context, schema)).body;
}

/** Reads the body as bytes. @throws Refusal beyond the limits */
export async function bytesOf(context: Context): Promise<Uint8Array> {
  const { bodySignal } = callOf(context);
  return await context.get('saccadeBodies').bytes(context.req.raw, bodySignal);
}

/** Parses JSON that came in another body, within the limits of bodies. @throws Refusal */
export function parseBody(context: Context, text: string): unknown {
  return context.get('saccadeBodies').parse(text);
}

/** The body's text, which is read only once. @throws Refusal beyond the limits */
export async function stashText(context: Context): Promise<string> {
  const known = context.get('saccadeText');
  if (known !== undefined) return known;
  const { bodySignal } = callOf(context);
  const text = await context.get('saccadeBodies').text(context.req.raw, bodySignal);
  context.set('saccadeText', text);
  return text;
}
