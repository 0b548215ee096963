/** Any tools as an HTTP service: our own protocol, and verl-tool's. */
import { availableParallelism } from 'node:os';
import type { EventSink } from '@saccade/core';
import {
  callOf,
  type ListenOptions,
  newServiceApp,
  openService,
  Refusal,
  type Service,
} from '@saccade/http/service';
import { openSandbox } from '@saccade/sandbox';
import type { ChosenTool } from '@saccade/tools';
import type { Hono } from 'hono';
import { ToolCalls, type ToolLimits } from './calls/tool-calls.ts';
import { checkPlacement, type Placement, type PlacementInput } from './placement.ts';
import { secretFrom } from './places/environment.ts';
import { openPlaces } from './places/open-places.ts';
import type { Place } from './places/place.ts';
import { SandboxHub } from './places/sandbox-hub.ts';
import { openApiDocument } from './service/openapi.ts';
import { asRefusal, toolWording } from './service/refusals.ts';
import { ToolMetrics } from './service/tool-metrics.ts';
import { toolRoutes } from './service/tool-routes.ts';
import { verlTool } from './service/verl-tool.ts';
import { WIRE_VERSION } from './wire.ts';

export { definePlacement, loadPlacement, type PlacementInput } from './placement.ts';

/** How a tool service is opened. */
export interface ToolServiceOptions extends ListenOptions {
  /** Tools in this process, beside those that the placement names. */
  readonly tools?: readonly ChosenTool[];
  /** Where tools run that are named. */
  readonly placement?: PlacementInput;
  /** Addresses (`file:`) of modules whose exports are the tools that a placement can name. */
  readonly modules?: readonly string[];
  /** The interpreter of the sandbox's environment; asked for when the first tool needs it. */
  readonly python: () => Promise<string>;
  /** Limit for all cached answers together; 0 caches none. Default 256 MiB. */
  readonly cacheBytes?: number;
  /** Limit per image, received or made. Default 50 million. */
  readonly maxPixels?: number;
  /** Larger requests are refused. Default 64 MiB. */
  readonly maxBytes?: number;
  /** verl-tool's requests may name image files inside this folder. Default: none. */
  readonly imageFolder?: string;
  /** Trajectories of verl-tool unused for longer are forgotten. Default 600. */
  readonly idleSeconds?: number;
  /** For the first calls of all tools of one process. Default 120. */
  readonly warmUpSeconds?: number;
  readonly onError?: (error: unknown) => void;
}

/** A tool service that listens. */
export interface ToolService extends Service {
  /** Names of the tools, in order. */
  readonly names: readonly string[];
  /** Why the service is not ready; undefined once it is. */
  problem(): string | undefined;
}

const routes =
  'GET /health, GET /ready, GET /metrics, GET /metrics.json, GET /openapi.json, GET /v1/tools, ' +
  'POST /v1/tools/:name, POST /v1/batch, POST /get_observation';

const MIB = 2 ** 20;

/**
 * Opens the tools, listens, and returns when it does; tools warm up meanwhile, see `GET /ready`.
 *
 * @throws ConfigError for a host that is not loopback without a token, a port that is taken, tools
 *   that there are not, and settings that do not fit; what tools throw when they are opened
 */
export async function openToolService(options: ToolServiceOptions): Promise<ToolService> {
  const { python, tools: chosen = [], modules = [], warmUpSeconds = 120 } = options;
  const { maxPixels = 50_000_000, cacheBytes = 256 * MIB } = options;
  const placement = options.placement && checkPlacement(options.placement);
  const metrics = new ToolMetrics();
  const onEvent: EventSink = (event) => options.onEvent?.(event);
  const hub = new SandboxHub(async () => openSandbox({ python: await python(), onEvent }));
  let places: readonly Place[] = [];
  const close = async (): Promise<void> => {
    await Promise.all(places.map((place) => place.dispose()));
    await hub.dispose();
  };
  try {
    places = await openPlaces({
      ...{ chosen, modules, maxPixels, warmUpSeconds, hub },
      ...(placement && { placement }),
      host: { python, onEvent, secret: secretFrom },
      ownSlots: 2 * availableParallelism(),
      onRestart: (place, cause) => metrics.onRestart(place, cause),
      onWarning: (message) => onEvent({ kind: 'warning', message }),
    });
    const calls = new ToolCalls({
      ...{ places, maxPixels, cacheBytes, limitsOf: limitsBy(placement) },
      onEnd: (...told) => metrics.onEnd(...told),
      onBatch: (...told) => metrics.onBatch(...told),
      onCacheHit: (tool) => metrics.onCacheHit(tool),
      onLate: (tool) => metrics.onLate(tool),
    });
    const problem = (): string | undefined =>
      places.map((place) => place.problem()).find((text) => text !== undefined);
    const service = await openService({
      ...options,
      ...{ name: 'tools', wording: toolWording, dispose: close },
      app: toolApp({ ...options, maxPixels }, calls, problem),
      addMetrics: (all) => metrics.addTo(all, calls),
    });
    return { ...service, names: calls.tools.map(({ name }) => name), problem };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Limits of each tool: its own, those of all tools, and what measurements say. */
function limitsBy(placement: Placement | undefined) {
  return (tool: string, place: Place): ToolLimits => {
    const given = { ...placement?.limits, ...placement?.tools[tool] };
    const { timeoutSeconds = 60 } = given;
    return {
      maxQueued: given.maxQueued ?? 1024,
      // On a CPU a batch costs more than its members alone: PP-OCRv4's recognizer takes 50 ms a line,
      // and 170 to 200 ms a line in batches of 4 to 8. Networks on GPUs want more.
      maxBatch: given.maxBatch ?? 1,
      maxWaitMs: given.maxWaitMs ?? 5,
      maxRunning: given.maxRunning ?? place.slots,
      timeoutSeconds,
      runSeconds: Math.min(timeoutSeconds, given.runSeconds ?? timeoutSeconds / 3),
    };
  };
}

function toolApp(
  options: ToolServiceOptions & { readonly maxPixels: number },
  calls: ToolCalls,
  problem: () => string | undefined,
): Hono {
  const { maxPixels, maxBytes = 64 * MIB, onError = console.error } = options;
  const began = Date.now();
  const app = newServiceApp({
    ...{ routes, wording: toolWording, asRefusal, onFault: onError },
    // Images are large, and many rollouts ask at a time.
    bodies: { maxBytes, maxBytesTogether: 4 * maxBytes },
  });
  const work = (): { readonly active: number; readonly most: number } => {
    const queues = calls.queues();
    const active = queues.reduce((sum, { waiting, running }) => sum + waiting + running, 0);
    return { active, most: queues.reduce((sum, { most }) => sum + most, 0) };
  };
  const uptime = (): number => (Date.now() - began) / 1000;
  const document = openApiDocument(calls.tools, String(WIRE_VERSION));

  app.get('/health', (context) => {
    const { isDraining, isTrusted } = callOf(context);
    const status = isDraining() ? 'draining' : 'healthy';
    const code = isDraining() ? 503 : 200;
    if (!isTrusted) return context.json({ status }, code);
    // The fields of verl-tool's servers.
    return context.json(
      {
        status,
        concurrent_requests: work().active,
        thread_pool_size: availableParallelism(),
        active_tasks: calls.cache.size,
        max_concurrent: work().most,
        tools: calls.tools.map(({ name }) => name),
        uptime_seconds: uptime(),
        isReady: problem() === undefined,
      },
      code,
    );
  });
  app.get('/ready', (context) => {
    const fact = problem();
    if (fact === undefined) return context.json({ status: 'ready' });
    const remedy = 'Ask again.';
    throw new Refusal({ status: 503, code: 'not-ready', fact, remedy, retryAfterSeconds: 1 });
  });
  app.get('/metrics.json', (context) =>
    context.json({
      active_requests: work().active,
      cached_responses: calls.cache.size,
      tools_initialized: calls.tools.length,
      uptime_seconds: uptime(),
      config: { max_concurrent: work().most, timeout: null, hashing_enabled: true },
    }),
  );
  app.get('/openapi.json', (context) => context.json(document));
  app.route('/v1', toolRoutes({ calls, maxPixels, onFault: onError }));
  app.route(
    '/',
    verlTool({
      ...{ calls, maxPixels, maxBytes, folder: options.imageFolder, onFault: onError },
      ...{ idleSeconds: options.idleSeconds ?? 600, maxImageBytes: 512 * MIB },
    }),
  );
  return app;
}
