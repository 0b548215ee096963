/**
 * A policy over HTTP in the words of vLLM and of SGLang: whoever samples from those can sample from
 * the local kernels, and whoever has a client for them can test it without a GPU.
 */
import { messageOf, SaccadeError } from '@saccade/core';
import { Hono } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import { PromptReader } from './prompt.ts';
import { Refusal } from './refusal.ts';
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
  /** Larger requests are refused. Default 256 MiB: pictures come with every turn. */
  readonly maxBytes?: number;
}

/** The service as a handler of web requests; the policy stays the caller's to dispose. */
export function policyService(options: PolicyServiceOptions): Hono {
  const { policy, model = 'saccade', version = '0.0.0', speaks = 'both' } = options;
  const { maxBytes = 256 * 2 ** 20 } = options;
  const engine = new ServedEngine(policy);
  const prompts = new PromptReader(policy.processor);
  const app = new Hono();
  app.use(
    bodyLimit({
      maxSize: maxBytes,
      onError: () => {
        throw new Refusal(`The request has more than ${maxBytes} bytes.`, 413);
      },
    }),
  );
  app.get('/health', (context) => context.body(null, 200));
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
  app.notFound((context) => {
    const message = `There is no ${context.req.method} ${context.req.path}.`;
    return context.json({ error: { message, type: 'NotFoundError', code: 404 } }, 404);
  });
  app.onError((error, context) => {
    const status = error instanceof Refusal ? error.status : isAsked(error) ? 400 : 500;
    const type = status === 500 ? 'InternalServerError' : 'BadRequestError';
    return context.json({ error: { message: messageOf(error), type, code: status } }, status);
  });
  return app;
}

/** Whether the policy refused the request itself: too long, tokens it has not. */
function isAsked(error: unknown): boolean {
  return error instanceof SaccadeError && ['config', 'data'].includes(error.code);
}
