/** The sandbox as an HTTP service: our sessions, SandboxFusion's runs, verl-tool's observations. */
import { randomUUID } from 'node:crypto';
import {
  callOf,
  type ListenOptions,
  newServiceApp,
  openService,
  type Service,
} from '@saccade/http/service';
import type { Hono } from 'hono';
import type { LocalSandbox } from './local-sandbox.ts';
import { GatedSandbox } from './service/gate.ts';
import { SandboxMetrics } from './service/metrics.ts';
import { asRefusal, sandboxWording } from './service/refusals.ts';
import { sandboxFusion } from './service/sandbox-fusion.ts';
import type { ServiceParts } from './service/service-parts.ts';
import { sessionsApi } from './service/sessions-api.ts';
import { verlTool } from './service/verl-tool.ts';

/** Options of `openSandboxService`. */
export interface SandboxServiceOptions extends ListenOptions {
  /** Where code runs; the service disposes of it at its end. */
  readonly sandbox: LocalSandbox;
  /** Larger requests are refused. Default 128 MiB. */
  readonly maxBytes?: number;
  /** Sessions and trajectories unused for longer are closed. Default 600. */
  readonly idleSeconds?: number;
  readonly onError?: (error: unknown) => void;
}

/** A running service: its URL, and how to stop it. */
export type SandboxService = Service;

const routes =
  'GET /health, GET /metrics, POST /v1/sessions, POST /v1/sessions/:id/execute, ' +
  'DELETE /v1/sessions/:id, POST /v1/drain, DELETE /v1/drain, POST /run_code, POST /run_jupyter, ' +
  'POST /get_observation';

/**
 * Listens and returns when it does.
 *
 * @throws ConfigError for a host that is not loopback without a token, and for a port that is taken
 */
export async function openSandboxService(options: SandboxServiceOptions): Promise<SandboxService> {
  const { sandbox } = options;
  const metrics = new SandboxMetrics();
  const { app, dispose } = sandboxApp(options, metrics);
  return await openService({
    ...options,
    ...{ name: 'sandbox', app, wording: sandboxWording },
    addMetrics: (all) => metrics.addTo(all, () => sandbox.stats()),
    dispose: async () => {
      await dispose();
      await sandbox.dispose();
    },
  });
}

function sandboxApp(
  options: SandboxServiceOptions,
  metrics: SandboxMetrics,
): { readonly app: Hono; dispose(): Promise<void> } {
  const { sandbox, onError, maxBytes = 128 * 2 ** 20, idleSeconds = 600 } = options;
  const started = Date.now();
  const { limits, capacity } = sandbox;
  // Clients tell by it that this is another start, which has none of their sessions.
  const instance = randomUUID();
  const gate = new GatedSandbox(sandbox);
  const onOutcome = metrics.onOutcome.bind(metrics);
  const parts: ServiceParts = { sandbox: gate, limits, idleSeconds, onOutcome };
  const app = newServiceApp({
    ...{ routes, wording: sandboxWording, asRefusal, bodies: { maxBytes } },
    ...(onError && { onFault: onError }),
  });
  app.get('/health', (context) => {
    const { isDraining, isTrusted } = callOf(context);
    const isLeaving = isDraining() || gate.isShut;
    const status = isLeaving ? 'draining' : 'healthy';
    const code = isLeaving ? 503 : 200;
    if (!isTrusted) return context.json({ status }, code);
    const uptimeSeconds = Math.round((Date.now() - started) / 1000);
    const { tier, guarantees, report, versions, warnings } = sandbox;
    const about = { status, instance, tier, guarantees, report, versions, warnings, limits };
    return context.json({ ...about, capacity, stats: sandbox.stats(), uptimeSeconds }, code);
  });
  // Sessions that are open go on; a process that is to end gets SIGTERM when none is left.
  app.on(['POST', 'DELETE'], '/v1/drain', (context) => {
    gate.shut(context.req.method === 'POST');
    return context.json({ status: gate.isShut ? 'draining' : 'healthy', ...sandbox.stats() });
  });
  const own = sessionsApi(parts);
  const trajectories = verlTool(parts);
  app.route('/v1/sessions', own.routes);
  app.route('/', sandboxFusion(parts));
  app.route('/', trajectories.routes);
  return {
    app,
    dispose: async () => {
      await Promise.all([own.sessions.dispose(), trajectories.trajectories.dispose()]);
    },
  };
}
