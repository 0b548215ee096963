/** Serves environments by OpenEnv's protocol: over HTTP by session, over web sockets by connection. */
import {
  type BodyLimits,
  bodyOf,
  callOf,
  idempotent,
  type ListenOptions,
  newServiceApp,
  openService,
  Refusal,
  type Service,
  type SessionLimits,
  Sessions,
} from '@saccade/http/service';
import type { Context } from 'hono';
import { Gauge } from 'prom-client';
import { z } from 'zod';
import type { ServedEnvironments } from './environments.ts';
import { Episode } from './episode.ts';
import { noMcp } from './no-mcp.ts';
import { openApi } from './openapi.ts';
import { asRefusal, envWording, noRoom, unknownSession } from './refusals.ts';
import { openWebSockets } from './web-sockets.ts';
import {
  actionSchema,
  observationSchema,
  resetSchema,
  stateSchema,
  type WireAnswer,
} from './wire.ts';

/** How environments are served: where, under which limits, and what is released at the end. */
export interface EnvServiceOptions
  extends ListenOptions,
    ServedEnvironments,
    Partial<SessionLimits> {
  readonly version?: string;
  readonly bodies?: BodyLimits;
  readonly onFault?: (error: unknown) => void;
  /** Releases what the environments use, once all of them are closed. */
  readonly dispose?: () => Promise<void>;
}

const sessionField = z.string().max(200).nullish();
const stepSchema = z.looseObject({
  action: z.unknown().optional(),
  session_id: sessionField,
  timeout_s: z.number().positive().max(3600).nullish(),
});
const resetBody = resetSchema.extend({ session_id: sessionField });

type WireResetBody = z.output<typeof resetBody>;

const jsonSchemaOf = (schema: z.ZodType): object => {
  const { $schema: _, ...rest } = z.toJSONSchema(schema);
  return rest;
};
const schemas = {
  action: jsonSchemaOf(actionSchema),
  observation: jsonSchemaOf(observationSchema),
  state: jsonSchemaOf(stateSchema),
};

/**
 * Listens. `maxSessions` is 64 and `idleSeconds` 600 by default, both for HTTP and for web sockets.
 *
 * @throws ConfigError as `openService` does
 */
export async function openEnvService(options: EnvServiceOptions): Promise<Service> {
  const { name, description, version = '0.1.0', onFault = console.error } = options;
  const { maxSessions = 64, idleSeconds = 600, dispose = async () => {} } = options;
  const { bodies = { maxBytes: 8 * 2 ** 20 } } = options;
  const limits = { maxSessions, idleSeconds };
  const sessions = new Sessions<Episode>(limits, (one) => one.dispose(), onFault);
  const routes =
    'POST /reset, POST /step, GET /state, POST /close, WS /ws, GET /schema, /metadata, /health, ' +
    '/openapi.json';
  const app = newServiceApp({ routes, bodies, wording: envWording, asRefusal, onFault });

  app.get('/health', (context) => {
    const isDraining = callOf(context).isDraining();
    const status = isDraining ? 'draining' : 'healthy';
    return context.json({ status }, isDraining ? 503 : 200);
  });
  app.get('/metadata', (context) => context.json({ name, description, version }));
  app.get('/schema', (context) => context.json(schemas));
  app.get('/openapi.json', (context) => context.json(openApi({ name, description, schemas })));

  app.use('/reset', idempotent());
  app.post('/reset', async (context) => {
    const { session_id, ...wanted } = isBare(context)
      ? ({} as WireResetBody)
      : await bodyOf(context, resetBody);
    const { signal } = callOf(context);
    const known = idOf(context, session_id);
    if (known === undefined) return context.json(await begin(wanted, signal));
    return context.json(await used(known, (episode) => episode.reset(wanted, signal)));
  });
  const begin = async (wanted: z.output<typeof resetSchema>, signal: AbortSignal) => {
    if (!sessions.hasRoom) throw noRoom(maxSessions);
    const id = sessions.newId();
    const episode = new Episode(id, options);
    sessions.add(id, episode);
    try {
      return await used(id, () => episode.reset(wanted, signal));
    } catch (error) {
      await sessions.end(id);
      throw error;
    }
  };
  const used = async (id: string, work: (episode: Episode) => Promise<WireAnswer>) => {
    const answer = await sessions.use(id, work);
    if (answer === undefined) throw unknownSession();
    return answer;
  };

  app.use('/step', idempotent());
  app.post('/step', async (context) => {
    const { action, session_id, timeout_s } = await bodyOf(context, stepSchema);
    const id = idOf(context, session_id) ?? missingId();
    const parsed = actionSchema.safeParse(action);
    if (!parsed.success) throw badAction(parsed.error);
    const { signal } = callOf(context);
    const limited =
      timeout_s === null || timeout_s === undefined
        ? signal
        : AbortSignal.any([signal, AbortSignal.timeout(timeout_s * 1000)]);
    return context.json(
      await used(id, async (episode) => {
        try {
          return await episode.step(parsed.data, limited);
        } catch (error) {
          if (!limited.aborted || signal.aborted) throw error;
          throw tooLate(timeout_s ?? 0);
        }
      }),
    );
  });

  app.get('/state', async (context) => {
    const id = idOf(context, context.req.query('session_id')) ?? missingId();
    const state = await sessions.use(id, async (episode) => episode.state);
    if (state === undefined) throw unknownSession();
    return context.json(state);
  });
  app.post('/close', async (context) => {
    const { session_id } = await bodyOf(context, z.looseObject({ session_id: sessionField }));
    if (!(await sessions.end(idOf(context, session_id) ?? missingId()))) throw unknownSession();
    return context.json({ closed: true });
  });
  app.post('/mcp', async (context) => {
    const body = await bodyOf(context, z.looseObject({ id: z.unknown().optional() }));
    return context.json(noMcp(body.id));
  });

  const sockets = openWebSockets({ served: options, sessions, maxSessions, idleSeconds, onFault });
  return await openService({
    addMetrics: ({ registry }) => {
      const gauge: Gauge = new Gauge({
        ...{ name: 'saccade_env_sessions', help: 'Sessions that are open', registers: [registry] },
        collect: () => gauge.set(sessions.count),
      });
    },
    ...{ ...options, name: 'env', app, wording: envWording, onUpgrade: sockets.take },
    dispose: async () => {
      await sessions.endAll();
      await dispose();
    },
  });
}

/** OpenEnv's clients may reset without a body. */
function isBare(context: Context): boolean {
  const { headers } = context.req.raw;
  return (headers.get('content-length') ?? '0') === '0' && !headers.has('transfer-encoding');
}

/** The header first: ids in addresses end up in logs. */
function idOf(context: Context, given: string | null | undefined): string | undefined {
  return context.req.header('x-session-id') ?? given ?? undefined;
}

function missingId(): never {
  throw new Refusal({
    ...{ status: 400, code: 'no-session', fact: 'The request names no session.' },
    remedy: 'Send the session_id of the observation that /reset gave, or the header x-session-id.',
  });
}

function badAction({ issues: [issue] }: z.ZodError): Refusal {
  const where = ['action', ...(issue?.path ?? [])].map(String).join('.').slice(0, 200);
  return new Refusal({
    ...{ status: 422, code: 'action', remedy: 'See GET /schema.' },
    fact: `"${where}" does not fit: ${issue?.message.slice(0, 300)}.`,
  });
}

function tooLate(seconds: number): Refusal {
  return new Refusal({
    ...{ status: 504, code: 'deadline', fact: `The step was not done within ${seconds} seconds.` },
    remedy: 'The episode is over without a reward: reset.',
  });
}
