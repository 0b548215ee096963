/**
 * Serves a policy over HTTP with the APIs of vLLM and SGLang: their clients can sample from the
 * local kernels, and can be tested without a GPU.
 */
import {
  callOf,
  type ListenOptions,
  newServiceApp,
  openService,
  type Service,
} from '@saccade/http/service';
import type { Hono } from 'hono';
import { addChatRoute } from './chat-route.ts';
import { PromptReader } from './prompt.ts';
import { asRefusal, policyWording } from './refusal.ts';
import { ServedEngine, type ServedPolicy } from './served-engine.ts';
import { addSglangRoutes } from './sglang-routes.ts';
import { addVllmRoutes } from './vllm-routes.ts';

/** The policy to serve, its names, and limits of requests. */
export interface PolicyServiceOptions {
  /** The caller owns it and disposes of it after the service has ended. */
  readonly policy: ServedPolicy;
  /** Name of the model in `/v1/models`. Default `saccade`. */
  readonly model?: string;
  /** The version in the answer of `/version`. Default `0.0.0`. */
  readonly version?: string;
  /** The APIs to serve; they have no route in common. Default `both`. */
  readonly speaks?: 'vllm' | 'sglang' | 'both';
  /** Largest request, in bytes. Default 256 MiB, since images are sent with every turn. */
  readonly maxBytes?: number;
  /** Most pixels of an image; more are refused before decoding. Default 40·2²⁰, more than those of 8K. */
  readonly maxImagePixels?: number;
}

const MOST_PIXELS = 40 * 2 ** 20;

/** Opens the service and resolves once it listens. The caller disposes of the policy. */
export async function openPolicyService(
  options: PolicyServiceOptions & ListenOptions,
): Promise<Service> {
  const app = policyService(options);
  return await openService({ ...options, name: 'policy', app, wording: policyWording });
}

/** Makes the service as a Hono app. The caller disposes of the policy. */
export function policyService(options: PolicyServiceOptions): Hono {
  const { policy, model = 'saccade', version = '0.0.0', speaks = 'both' } = options;
  const { maxBytes = 256 * 2 ** 20, maxImagePixels = MOST_PIXELS } = options;
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
  addChatRoute(app, { engine, prompts, model });
  if (speaks !== 'sglang') addVllmRoutes(app, { engine, prompts, model, version });
  if (speaks !== 'vllm') addSglangRoutes(app, { engine, prompts, model });
  return app;
}
