/** The routes of vLLM: completions, tokens in and out, and its development mode for training. */
import { callOf, readJson } from '@saccade/http/service';
import type { Hono } from 'hono';
import { z } from 'zod';
import type { PromptReader } from './prompt.ts';
import { refused } from './refusal.ts';
import {
  checkEnds,
  completionBody,
  generateBody,
  seedOf,
  stopsOf,
  truncationOf,
  type VllmSampling,
} from './request-body.ts';
import { Aborted, type ServedEngine, type ServedResult } from './served-engine.ts';

interface Routed {
  readonly engine: ServedEngine;
  readonly prompts: PromptReader;
  readonly model: string;
  readonly version: string;
}

/** The answer to a request that was stopped: the engine keeps nothing of it. */
const nothing = (engine: ServedEngine): ServedResult & { readonly isAborted: boolean } => ({
  tokens: new Int32Array(0),
  logprobs: new Float32Array(0),
  text: '',
  finish: 'length',
  policyVersion: engine.policy.version,
  weightVersion: engine.weightVersion,
  isAborted: true,
});

export async function orAborted(
  engine: ServedEngine,
  sample: () => Promise<ServedResult>,
): Promise<ServedResult & { readonly isAborted: boolean }> {
  try {
    return { ...(await sample()), isAborted: false };
  } catch (error) {
    if (error instanceof Aborted) return nothing(engine);
    throw error;
  }
}

/** The text up to a stop string that was not to be kept. */
export function trimmed(text: string, stops: readonly string[]): string {
  const ends = stops.map((stop) => text.indexOf(stop)).filter((at) => at >= 0);
  return ends.length === 0 ? text : text.slice(0, Math.min(...ends));
}

export function addVllmRoutes(app: Hono, { engine, prompts, model, version }: Routed): void {
  const { endOfTurn } = engine.policy.processor;
  app.get('/version', (context) => context.json({ version }));

  app.post('/v1/completions', async (context) => {
    const { body, text } = await readJson(context, completionBody);
    const sampling = samplingOf(body, endOfTurn);
    const tokens =
      typeof body.prompt === 'string'
        ? prompts.textTokens(body.prompt)
        : Int32Array.from(body.prompt);
    const result = await orAborted(engine, () =>
      engine.sample({
        ...sampling,
        tokens,
        images: [],
        seed: seedOf(text, 'seed'),
        ...identityOf(body),
        signal: callOf(context).signal,
      }),
    );
    const sampled = Array.from(result.tokens);
    const stopped = result.finish === 'stop' ? firstStop(result.text, sampling.stop) : undefined;
    const keeps = body.include_stop_str_in_output === true;
    return context.json({
      id: `cmpl-${body.request_id ?? crypto.randomUUID()}`,
      object: 'text_completion',
      created: Math.floor(Date.now() / 1000),
      model,
      choices: [
        {
          index: 0,
          text: keeps ? result.text : trimmed(result.text, sampling.stop),
          finish_reason: reasonOf(result),
          stop_reason: stopped ?? null,
          logprobs:
            body.logprobs == null
              ? null
              : {
                  text_offset: [],
                  tokens: sampled.map((token) => `token_id:${token}`),
                  token_logprobs: Array.from(result.logprobs),
                  top_logprobs: [],
                },
          ...(body.return_token_ids && {
            token_ids: sampled,
            prompt_token_ids: Array.from(tokens),
          }),
          weight_versions: spansOf(result),
        },
      ],
      usage: usageOf(tokens.length, sampled.length),
    });
  });

  app.post('/inference/v1/generate', async (context) => {
    const { body, text } = await readJson(context, generateBody);
    const urls = (body.content_parts ?? []).map((part) =>
      'url' in part ? part.url : part.image_url.url,
    );
    const { tokens, images } = await prompts.withImages(body.token_ids, urls);
    const result = await orAborted(engine, () =>
      engine.sample({
        ...samplingOf(body.sampling_params, endOfTurn),
        tokens,
        images,
        seed: seedOf(text, 'seed'),
        ...identityOf(body),
        signal: callOf(context).signal,
      }),
    );
    const sampled = Array.from(result.tokens);
    const content = sampled.map((token_id, i) => ({ token_id, logprob: result.logprobs[i] }));
    return context.json({
      request_id: body.request_id ?? crypto.randomUUID(),
      output_mode: 'tokens',
      model,
      choices: [
        {
          index: 0,
          token_ids: sampled,
          finish_reason: reasonOf(result),
          logprobs: body.sampling_params.logprobs == null ? null : { content },
          weight_versions: spansOf(result),
        },
      ],
      ...(body.return_token_ids && { prompt_token_ids: Array.from(tokens) }),
      usage: usageOf(tokens.length, sampled.length),
    });
  });

  addControl(app, engine);
}

function addControl(app: Hono, engine: ServedEngine): void {
  app.post('/pause', async (context) => {
    const mode = context.req.query('mode') ?? 'abort';
    // Weights cannot change during a request here, so requests to keep are finished first.
    await engine.pause(mode === 'abort' ? 'abort' : 'wait');
    return context.json({ status: 'paused' });
  });
  app.post('/resume', (context) => {
    engine.resume();
    return context.json({ status: 'resumed' });
  });
  app.get('/is_paused', (context) => context.json({ is_paused: engine.isPaused }));
  app.post('/abort_requests', async (context) => {
    const schema = z.object({ request_ids: z.array(z.string()).nullish() });
    const { body } = await readJson(context, schema);
    const ids = body.request_ids ?? [];
    const aborted =
      ids.length === 0 ? engine.abort() : ids.reduce((sum, id) => sum + engine.abort(id), 0);
    return context.json({ status: 'aborted', aborted });
  });
  app.post('/collective_rpc', async (context) => {
    const schema = z.object({
      method: z.string(),
      kwargs: z.object({ weights_path: z.string() }).partial().optional(),
    });
    const { body } = await readJson(context, schema);
    const path = body.kwargs?.weights_path;
    if (body.method !== 'reload_weights' || path === undefined) {
      throw refused('Only reload_weights with kwargs.weights_path is served.');
    }
    await engine.reload(path);
    return context.json({ results: [null] });
  });
  app.post('/update_weight_version', async (context) => {
    const { body } = await readJson(context, z.object({ new_version: z.string() }));
    engine.weightVersion = body.new_version;
    return context.json({ success: true, new_version: body.new_version });
  });
  app.get('/weight_info', (context) => context.json({ weight_version: engine.weightVersion }));
  app.post('/reset_prefix_cache', (context) => {
    engine.forget();
    return context.body(null, 200);
  });
}

function samplingOf(body: VllmSampling, endOfTurn: number) {
  const { max_tokens, temperature, stop, stop_token_ids, ignore_eos } = body;
  checkEnds(stop_token_ids, endOfTurn);
  return {
    maxTokens: max_tokens ?? 16,
    temperature: temperature ?? 1,
    ...truncationOf(body),
    stop: stopsOf(stop),
    ignoreEndOfTurn: ignore_eos ?? false,
  };
}

export function identityOf(body: {
  readonly session_id?: string | null | undefined;
  readonly request_id?: string | null | undefined;
}): { readonly session?: string; readonly id?: string } {
  return {
    ...(body.session_id != null && { session: body.session_id }),
    ...(body.request_id != null && { id: body.request_id }),
  };
}

function reasonOf(result: ServedResult & { readonly isAborted: boolean }): string {
  if (result.isAborted) return 'abort';
  return result.finish === 'length' ? 'length' : 'stop';
}

/** The stop string that a text ends with, or contains. */
export function firstStop(text: string, stops: readonly string[]): string | undefined {
  return stops.find((stop) => text.includes(stop));
}

function spansOf({ tokens, weightVersion }: ServedResult) {
  return [{ version: weightVersion, start: 0, end: tokens.length }];
}

export function usageOf(prompt: number, completion: number) {
  return {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
  };
}
