/** The sandbox as an HTTP service: our sessions, SandboxFusion's runs, verl-tool's observations. */
import type { AddressInfo } from 'node:net';
import { createAdaptorServer } from '@hono/node-server';
import { StateError } from '@saccade/core';
import { Hono } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import type { LocalSandbox } from './local-sandbox.ts';
import { access, checkAccess } from './service/access.ts';
import { serviceMetrics } from './service/metrics.ts';
import { answerRefusal, asRefusal, Refusal } from './service/refusal.ts';
import { sandboxFusion } from './service/sandbox-fusion.ts';
import type { ServiceEnv, ServiceParts } from './service/service-parts.ts';
import { sessionsApi } from './service/sessions-api.ts';
import { verlTool } from './service/verl-tool.ts';

export interface SandboxServiceOptions {
  /** Where code runs; the service disposes of it at its end. */
  readonly sandbox: LocalSandbox;
  /** Default 127.0.0.1. */
  readonly host?: string;
  /** Default 0: a free one. */
  readonly port?: number;
  /** What callers must send as bearer token; needed unless the host is this machine's loopback. */
  readonly token?: string;
  /** Larger requests are refused. Default 128 MiB. */
  readonly maxBytes?: number;
  /** Sessions and trajectories unused for longer are closed. Default 600. */
  readonly idleSeconds?: number;
  /** How long a client may take to read an answer. Default 60. */
  readonly sendSeconds?: number;
  readonly onError?: (error: unknown) => void;
}

export interface SandboxService {
  readonly url: string;
  /**
   * Refuses new calls, waits for those that run (at most so long), closes all sessions, the sandbox
   * and the port. Default 30 seconds.
   */
  drain(graceSeconds?: number): Promise<void>;
}

const routes =
  'GET /health, GET /metrics, POST /v1/sessions, POST /v1/sessions/:id/execute, ' +
  'DELETE /v1/sessions/:id, POST /run_code, POST /run_jupyter, POST /get_observation';

/** Needs no token: load balancers ask it. */
const open = '/health';

/**
 * Listens and returns when it does.
 *
 * @throws ConfigError for a host that is not loopback without a token, and for a port that is taken
 */
export async function openSandboxService(options: SandboxServiceOptions): Promise<SandboxService> {
  const { sandbox, host = '127.0.0.1', port = 0, token } = options;
  checkAccess(host, token);
  const state: State = { calls: 0, isDraining: false, onIdle: () => {} };
  const calls = new Set<AbortController>();
  const { app, dispose } = serviceApp(options, state, calls);
  const server = createAdaptorServer({
    fetch: app.fetch,
    // A request must arrive within a minute. A connection stays open longer than clients keep theirs:
    // were it closed while a call is on its way, nobody would know whether the call ran.
    serverOptions: { requestTimeout: 60_000, keepAliveTimeout: 75_000 },
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => resolve());
  });
  const bound = (server.address() as AddressInfo).port;
  let draining: Promise<void> | undefined;
  const drain = async (graceSeconds: number): Promise<void> => {
    state.isDraining = true;
    const idle = new Promise<void>((resolve) => {
      state.onIdle = resolve;
      if (state.calls === 0) resolve();
    });
    const timer = setTimeout(() => {
      const reason = new StateError('The service was stopped before the call was done.');
      for (const call of calls) call.abort(reason);
    }, graceSeconds * 1000);
    await idle;
    clearTimeout(timer);
    await dispose();
    await sandbox.dispose();
    await new Promise<void>((resolve) => {
      server.close(() => resolve());
      if ('closeAllConnections' in server) server.closeAllConnections();
    });
  };
  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${bound}`,
    drain(graceSeconds = 30) {
      draining ??= drain(graceSeconds);
      return draining;
    },
  };
}

interface State {
  /** Calls under way. */
  calls: number;
  isDraining: boolean;
  onIdle: () => void;
}

function serviceApp(
  options: SandboxServiceOptions,
  state: State,
  calls: Set<AbortController>,
): { readonly app: Hono<ServiceEnv>; dispose(): Promise<void> } {
  const { sandbox, token, onError } = options;
  const { maxBytes = 128 * 2 ** 20, idleSeconds = 600, sendSeconds = 60 } = options;
  const started = Date.now();
  const metrics = serviceMetrics(() => sandbox.stats());
  const { limits } = sandbox;
  const { onOutcome } = metrics;
  const parts: ServiceParts = { sandbox, limits, idleSeconds, onOutcome, calls };
  const app = new Hono<ServiceEnv>();

  app.use(async (context, next) => {
    const began = performance.now();
    await next();
    const route = context.req.routePath;
    metrics.onRequest(route, context.res.status, (performance.now() - began) / 1000);
    const { outgoing } = context.env;
    const timer = setTimeout(() => outgoing.destroy(), sendSeconds * 1000);
    outgoing.once('close', () => clearTimeout(timer));
  });
  const checked = access(token);
  app.use((context, next) => (context.req.path === open ? next() : checked(context, next)));
  app.use(
    bodyLimit({
      maxSize: maxBytes,
      onError: () => {
        const fact = `The request has more than ${maxBytes} bytes.`;
        const remedy = 'Send smaller pictures or files.';
        throw new Refusal({ status: 413, code: 'too-large', fact, remedy });
      },
    }),
  );
  app.use(async (context, next) => {
    if (context.req.method !== 'POST') return await next();
    if (state.isDraining) throw draining();
    state.calls += 1;
    try {
      await next();
    } finally {
      state.calls -= 1;
      if (state.calls === 0) state.onIdle();
    }
  });
  app.get(open, (context) => {
    const uptimeSeconds = Math.round((Date.now() - started) / 1000);
    const { tier, guarantees, report, versions, warnings } = sandbox;
    const status = state.isDraining ? 'draining' : 'healthy';
    const about = { status, tier, guarantees, report, versions, warnings, limits };
    const now = { stats: sandbox.stats(), uptimeSeconds };
    return context.json({ ...about, ...now }, state.isDraining ? 503 : 200);
  });
  app.get('/metrics', async (context) => {
    const { type, text } = await metrics.text();
    return context.text(text, 200, { 'content-type': type });
  });
  const own = sessionsApi(parts);
  const trajectories = verlTool(parts);
  app.route('/v1/sessions', own.routes);
  app.route('/', sandboxFusion(parts));
  app.route('/', trajectories.routes);
  app.notFound((context) => {
    const fact = `There is no ${context.req.method} ${context.req.path}.`;
    const remedy = `Use one of: ${routes}.`;
    return answerRefusal(
      context,
      new Refusal({ status: 404, code: 'unknown-route', fact, remedy }),
    );
  });
  app.onError((error, context) => {
    const refusal = asRefusal(error);
    const isOurs = refusal.options.code === 'fault' && !context.req.raw.signal.aborted;
    if (isOurs) onError?.(error);
    return answerRefusal(context, refusal);
  });
  return {
    app,
    dispose: async () => {
      await Promise.all([own.sessions.dispose(), trajectories.trajectories.dispose()]);
    },
  };
}

function draining(): Refusal {
  const fact = 'The service is about to stop and takes no new calls.';
  const remedy = 'Ask another one, or this one after its start.';
  return new Refusal({ status: 503, code: 'draining', fact, remedy, retryAfterSeconds: 5 });
}
