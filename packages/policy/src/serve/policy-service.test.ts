/** The service by itself: what it takes, refuses and says, without a client of ours. */
import { nativeBackend } from '@saccade/backend-native';
import { type Device, openDevice } from '@saccade/ops';
import type { Hono } from 'hono';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { LocalPolicy } from '../local-policy.ts';
import { tinyPolicy, tinyProcessor } from '../tiny-policy.fixture.ts';
import { policyService } from './policy-service.ts';

let device: Device;
let policy: LocalPolicy;
let app: Hono;
beforeAll(() => {
  device = openDevice(nativeBackend({ threads: 1 }));
  policy = tinyPolicy(device);
  app = policyService({ policy, model: 'tiny', version: '1.2.3', maxBytes: 100_000 });
});
afterAll(() => {
  policy.dispose();
  device.dispose();
});

async function post(path: string, body: unknown) {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  const response = await app.request(path, { method: 'POST', body: text });
  const said = await response.text();
  return { status: response.status, body: said.startsWith('{') ? JSON.parse(said) : said };
}

const prompt = Array.from(tinyProcessor.encodePrompt([{ kind: 'text', text: 'Which?' }]).tokens);

describe('the policy service', () => {
  it('answers OpenAI’s completions: text in, text and usage out, cut before a stop string', async () => {
    const asked = {
      model: 'tiny',
      prompt: 'Which digit',
      max_tokens: 30,
      seed: 3,
      ignore_eos: true,
    };
    const { status, body } = await post('/v1/completions', asked);
    expect(status).toBe(200);
    expect(body).toMatchObject({ object: 'text_completion', model: 'tiny' });
    expect(body.usage.completion_tokens).toBe(30);
    const [choice] = body.choices;
    expect([choice.finish_reason, choice.logprobs, choice.token_ids]).toEqual([
      'length',
      null,
      undefined,
    ]);
    const stop = [...choice.text].find((one, i) => i > 4 && /[!-~]/.test(one)) ?? 'x';
    const cut = await post('/v1/completions', { ...asked, stop });
    expect(cut.body.choices[0]).toMatchObject({ finish_reason: 'stop', stop_reason: stop });
    expect(cut.body.choices[0].text).toBe(choice.text.slice(0, choice.text.indexOf(stop)));
    const kept = await post('/v1/completions', {
      ...asked,
      stop,
      include_stop_str_in_output: true,
    });
    expect(kept.body.choices[0].text).toContain(stop);
  });

  it('has the defaults of the servers it speaks as', async () => {
    const both = [
      await post('/v1/completions', { prompt, ignore_eos: true, return_token_ids: true }),
      await post('/generate', { input_ids: prompt, sampling_params: { ignore_eos: true } }),
    ] as const;
    expect(both[0].body.choices[0].token_ids).toHaveLength(16);
    expect(both[1].body.output_ids).toHaveLength(128);
    // Without a seed two requests are two draws.
    const again = await post('/v1/completions', {
      prompt,
      ignore_eos: true,
      return_token_ids: true,
    });
    expect(again.body.choices[0].token_ids).not.toEqual(both[0].body.choices[0].token_ids);
  });

  it.each([
    ['/v1/completions', '{', 400, /not JSON/],
    ['/v1/completions', {}, 400, /"prompt" does not fit/],
    ['/v1/completions', { prompt: [] }, 400, /"prompt" does not fit/],
    ['/v1/completions', { prompt, stream: true }, 400, /not streamed/],
    ['/v1/completions', { prompt, n: 2 }, 400, /"n" .* only 1 is served/],
    ['/v1/completions', { prompt, top_p: 0 }, 400, /"top_p" does not fit/],
    [
      '/generate',
      { input_ids: prompt, sampling_params: { min_p: 2 } },
      400,
      /"sampling_params.min_p"/,
    ],
    ['/v1/completions', { prompt, stop_token_ids: [5] }, 400, /5 cannot stop it/],
    ['/v1/completions', { prompt: [9999] }, 400, /Token 0 is 9999/],
    ['/v1/completions', { prompt, max_tokens: 1e7 }, 400, /exceed the model's/],
    ['/v1/completions', { prompt, stop: 'x'.repeat(200_000) }, 413, /more than 100000 bytes/],
    ['/generate', { text: 'a', input_ids: prompt }, 400, /either text or input_ids/],
    ['/generate', { input_ids: prompt, image_data: ['aGk='] }, 400, /0 placeholders .* 1 images/],
    [
      '/generate',
      { input_ids: [tinyProcessor.imageToken], image_data: ['aGk='] },
      400,
      /image could not be decoded/,
    ],
    [
      '/inference/v1/generate',
      {
        token_ids: [tinyProcessor.imageToken],
        content_parts: [{ type: 'image_url', url: 'http://elsewhere/a.png' }],
        sampling_params: {},
      },
      400,
      /must be a data URL/,
    ],
    ['/collective_rpc', { method: 'exec' }, 400, /Only reload_weights/],
    ['/nothing', {}, 404, /There is no POST \/nothing/],
  ])('refuses at %s what does not fit (%#)', async (path, body, status, message) => {
    const answer = await post(path, body);
    expect([answer.status, answer.body.error.message]).toEqual([
      status,
      expect.stringMatching(message),
    ]);
  });

  it('holds requests while it is paused, and stops those it is told to', async () => {
    const long = { prompt, max_tokens: 300, ignore_eos: true, request_id: 'long' };
    const running = post('/v1/completions', long);
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect((await post('/abort_requests', { request_ids: ['other'] })).body.aborted).toBe(0);
    expect((await post('/abort_requests', { request_ids: ['long'] })).body.aborted).toBe(1);
    expect((await running).body.choices[0].finish_reason).toBe('abort');
    expect((await post('/pause?mode=wait', {})).body).toEqual({ status: 'paused' });
    let isDone = false;
    const held = post('/generate', { input_ids: prompt }).finally(() => (isDone = true));
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect([isDone, await (await app.request('/is_paused')).json()]).toEqual([
      false,
      { is_paused: true },
    ]);
    await post('/resume', {});
    expect((await held).status).toBe(200);
  });

  it('forgets conversations that are quiet, and all of them when asked', async () => {
    await post('/reset_prefix_cache', {});
    expect(policy.usedCacheSlots).toBe(0);
    await post('/v1/completions', { prompt, session_id: 'a' });
    expect(policy.usedCacheSlots).toBeGreaterThan(0);
    await post('/v1/completions', { prompt });
    const kept = policy.usedCacheSlots;
    await post('/v1/completions', { prompt, session_id: 'a' });
    expect(policy.usedCacheSlots).toBeLessThanOrEqual(kept + 16);
    await post('/flush_cache', {});
    expect(policy.usedCacheSlots).toBe(0);
  });

  it('computes the prompt of a group once, and keeps it no longer than somebody has it', async () => {
    const question = [...prompt, ...prompt, ...prompt.slice(0, 7)];
    const asked = (seed: number, session?: string) => ({
      prompt: question,
      seed,
      max_tokens: 2,
      ignore_eos: true,
      logprobs: 1,
      return_token_ids: true,
      ...(session !== undefined && { session_id: session }),
    });
    const said = async (requests: readonly object[]) => {
      const before = policy.sampling.computedRows;
      const answers = await Promise.all(requests.map((one) => post('/v1/completions', one)));
      const choices = answers.map(({ body }) => body.choices[0]);
      return { choices, rows: policy.sampling.computedRows - before };
    };
    const apart = [];
    for (const seed of [1, 2, 3, 4]) apart.push(...(await said([asked(seed)])).choices);
    const group = await said([1, 2, 3, 4].map((seed) => asked(seed)));
    expect(group.choices).toEqual(apart);
    // Of each its last token, and the first that it samples.
    expect(group.rows).toBe(question.length - 1 + 4 * 2);
    expect(policy.usedCacheSlots).toBe(0);
    const sessions = await said([1, 2, 3, 4].map((seed) => asked(seed, `s${seed}`)));
    expect([sessions.choices, sessions.rows]).toEqual([apart, group.rows]);
    // A turn later it is computed no more.
    const next = { ...asked(1, 's1'), prompt: [...question, ...apart[0].token_ids, 20, 21] };
    expect((await said([next])).rows).toBe(1 + 2 + 1);
    await post('/flush_cache', {});
    expect(policy.usedCacheSlots).toBe(0);
  });

  it('lists its model, its version and its paths', async () => {
    const json = async (path: string) =>
      (await (await app.request(path)).json()) as { data: object[]; paths: object };
    expect(await json('/version')).toEqual({ version: '1.2.3' });
    expect((await json('/v1/models')).data[0]).toMatchObject({ id: 'tiny', owned_by: 'saccade' });
    expect(Object.keys((await json('/openapi.json')).paths)).toEqual(
      expect.arrayContaining(['/generate', '/inference/v1/generate', '/update_weights_from_disk']),
    );
    const one = policyService({ policy, speaks: 'sglang' });
    expect((await one.request('/version')).status).toBe(404);
    expect((await one.request('/get_model_info')).status).toBe(200);
  });
});
