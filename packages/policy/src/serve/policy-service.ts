/**
 * A policy over HTTP in the words of vLLM and of SGLang: whoever samples from those can sample from
 * the local kernels, and whoever has a client for them can test it without a GPU.
 */
import {
  callOf,
  type ListenOptions,
  newServiceApp,
  openService,
  type Service,
} from '@saccade/http/service';
import type { Hono } from 'hono';
import { PromptReader } from './prompt.ts';
import { asRefusal, policyWording } from './refusal.ts';
import { ServedEngine, type ServedPolicy } from './served-engine.ts';
import { addSglangRoutes } from './sglang-routes.ts';
import { addVllmRoutes } from './vllm-routes.ts';

export interface PolicyServiceOptions {
  readonly policy: ServedPolicy;
  /** As `/v1/models` calls it. Default `saccade`. */
  readonly model?: string;
  /** What `/version` says. Default `0.0.0`. */
  readonly version?: string;
  /** Which routes there are. Default both: they share none. */
  readonly speaks?: 'vllm' | 'sglang' | 'both';
  /** Larger requests are refused. Default 256 MiB: images come with every turn. */
  readonly maxBytes?: number;
  /** Images with more pixels are refused before they are decoded. Default 2²⁴, e.g. 4096×4096. */
  readonly maxImagePixels?: number;
}

/** Listens and returns when it does; the policy stays the caller's to dispose. */
export async function openPolicyService(
  options: PolicyServiceOptions & ListenOptions,
): Promise<Service> {
  const app = policyService(options);
  return await openService({ ...options, name: 'policy', app, wording: policyWording });
}

/** The service as a handler of web requests; the policy stays the caller's to dispose. */
export function policyService(options: PolicyServiceOptions): Hono {
  const { policy, model = 'saccade', version = '0.0.0', speaks = 'both' } = options;
  const { maxBytes = 256 * 2 ** 20, maxImagePixels = 2 ** 24 } = options;
  const engine = new ServedEngine(policy);
  const prompts = new PromptReader(policy.processor, maxImagePixels);
  const app = newServiceApp({
    ...{ routes: 'those of GET /openapi.json', bodies: { maxBytes } },
    ...{ wording: policyWording, asRefusal },
  });
  app.get('/health', (context) => context.body(null, callOf(context).isDraining() ? 503 : 200));
  app.get('/v1/models', (context) => {
    const card = { id: model, object: 'model', created: 0, owned_by: 'saccade' };
    return context.json({ object: 'list', data: [card] });
  });
  app.get('/openapi.json', (context) => {
    const paths = Object.fromEntries(
      app.routes
        .filter(({ method }) => method !== 'ALL')
        .map(({ path, method }) => [path, { [method.toLowerCase()]: {} }]),
    );
    return context.json({ openapi: '3.1.0', info: { title: 'Saccade', version }, paths });
  });
  if (speaks !== 'sglang') addVllmRoutes(app, { engine, prompts, model, version });
  if (speaks !== 'vllm') addSglangRoutes(app, { engine, prompts, model });
  return app;
}
