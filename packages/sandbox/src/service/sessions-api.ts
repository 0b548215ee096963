/** Our own protocol: sessions that are opened, used and closed; `RemoteSandbox` speaks it. */
import { bodyOf, callOf, Refusal } from '@saccade/http/service';
import { type Context, Hono } from 'hono';
import { z } from 'zod';
import { captureSchema } from '../capture-options.ts';
import { outcomeToJson } from '../outcome-json.ts';
import type { InputImage, RepairOptions } from '../session.ts';
import { callerOf, type ServiceParts, signalOf } from './service-parts.ts';
import { SessionTable } from './session-table.ts';

const seconds = z.number().positive().max(86_400);

const inputs = z
  .array(z.object({ name: z.string().min(1), encoded: z.base64() }))
  .max(64)
  .default([]);

const repairsSchema: z.ZodType<RepairOptions> = z.strictObject({
  indentation: z.boolean().exactOptional(),
  imagePaths: z.boolean().exactOptional(),
  cropBoxes: z.number().int().positive().exactOptional(),
});

const openRequest = z.object({
  mode: z.enum(['persistent', 'transactional', 'fresh']).default('persistent'),
  images: inputs,
  videos: inputs,
  repairs: repairsSchema.exactOptional(),
  capture: captureSchema.exactOptional(),
  deadlineSeconds: seconds.optional(),
});

const executeRequest = z.object({
  code: z.string(),
  wallSeconds: seconds.optional(),
  deadlineSeconds: seconds.optional(),
});

export interface SessionsApi {
  readonly routes: Hono;
  readonly sessions: SessionTable;
}

export function sessionsApi(parts: ServiceParts): SessionsApi {
  const sessions = new SessionTable(parts.sandbox, parts.idleSeconds);
  const routes = new Hono();

  routes.post('/', async (context) => {
    const { deadlineSeconds, ...given } = await bodyOf(context, openRequest);
    const signal = signalOf(context, deadlineSeconds);
    const caller = callerOf(context);
    const images = decoded(given.images);
    const videos = decoded(given.videos);
    const session = await withinDeadline(signal, () =>
      sessions.open({ ...given, images, videos, signal, caller }),
    );
    // The client is gone, so the new session is closed again.
    if (signal.aborted) {
      await sessions.close(session);
      throw reasonOf(signal);
    }
    callOf(context).onEnd((isDelivered) => {
      if (!isDelivered) void sessions.close(session);
    });
    return context.json({ session, tier: parts.sandbox.tier }, 201);
  });

  routes.post('/:session/execute', async (context) => {
    const { code, wallSeconds, deadlineSeconds } = await bodyOf(context, executeRequest);
    const signal = signalOf(context, deadlineSeconds);
    const outcome = await sessions.use(context.req.param('session'), (session) =>
      withinDeadline(signal, () =>
        session.execute(code, { signal, ...(wallSeconds !== undefined && { wallSeconds }) }),
      ),
    );
    if (outcome === undefined) throw unknown(context);
    parts.onOutcome('sessions', outcome);
    return context.json({ outcome: outcomeToJson(outcome) });
  });

  routes.delete('/:session', async (context) => {
    if (!(await sessions.close(context.req.param('session')))) throw unknown(context);
    return context.json({});
  });

  return { routes, sessions };
}

function decoded(list: z.output<typeof inputs>): readonly InputImage[] {
  return list.map(({ name, encoded }) => ({
    name,
    encoded: new Uint8Array(Buffer.from(encoded, 'base64')),
  }));
}

function unknown(context: Context): Refusal {
  return new Refusal({
    status: 404,
    code: 'unknown-session',
    fact: `There is no session ${context.req.param('session')}.`,
    remedy: 'It was closed, unused for too long, or of an earlier start. Open a new one.',
  });
}

function reasonOf(signal: AbortSignal): unknown {
  const reason: unknown = signal.reason;
  if (!(reason instanceof DOMException) || reason.name !== 'TimeoutError') return reason;
  return new Refusal({
    status: 504,
    code: 'deadline',
    fact: 'The call was not done by its deadline and was given up.',
    remedy: 'If its code ran, its session is over. Allow more time, or ask for less at a time.',
  });
}

async function withinDeadline<Result>(
  signal: AbortSignal,
  act: () => Promise<Result>,
): Promise<Result> {
  try {
    return await act();
  } catch (error) {
    throw signal.aborted && error === signal.reason ? reasonOf(signal) : error;
  }
}
