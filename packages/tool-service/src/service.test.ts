/** The answers of a tool service: calls, batches, deadlines, repeated keys, its own state. */
import { Validator } from '@seriousme/openapi-schema-validator';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { digestText } from './load/plain-tools.ts';
import {
  type Answered,
  faultyProcess,
  get,
  image,
  loadModule,
  metricsOf,
  post,
  sentImage,
  startTools,
  until,
} from './service.fixture.ts';
import type { ToolService } from './service.ts';

const names = ['digest_tool', 'show_tool', 'device_tool'];
const tools = names.map((name) => ({ name }));
const faulty = { name: 'faulty', modules: [loadModule], tools, slowSeconds: 0.8 };
const right = { outcome: { kind: 'ok', stdout: `${digestText(image)}\n` } };

let service: ToolService;
beforeAll(async () => {
  service = await startTools({
    own: [faulty],
    limits: { timeoutSeconds: 30 },
    tools: { device_tool: { maxBatch: 8, maxWaitMs: 20 } },
  });
}, 120_000);
afterAll(() => service?.drain(1));

let tickets = 0;
const request = (given: object = {}, more: object = {}) => ({
  arguments: { ticket: `t${tickets++}`, ...given },
  images: [sentImage],
  ...more,
});
const call = (given: object = {}, more: object = {}, headers = {}): Promise<Answered> =>
  post(service, '/v1/tools/digest_tool', request(given, more), { headers });

describe('calls', () => {
  it('have the outcome that the tool gives in its own process', async () => {
    expect(await call()).toMatchObject({ status: 200, body: { isCached: false, ...right } });
    const shown = await post(service, '/v1/tools/show_tool', request());
    const { images } = shown.body.outcome as { images: object[] };
    expect(images).toEqual([
      {
        ...{ png: sentImage.png, width: 100, height: 80, source: 'image' },
        origin: { image: 'image_0', map: [1, 0, 0, 0, 1, 0] },
      },
    ]);
  });

  it('are remembered where the tool is deterministic, in whatever order arguments come', async () => {
    const asked = { arguments: { ticket: 'same', image_index: 0 }, images: [sentImage] };
    const turned = { images: [sentImage], arguments: { image_index: 0, ticket: 'same' } };
    const before = await metricsOf(service, 'saccade_tools_cache_hits_total{tool="digest_tool"}');
    const first = await post(service, '/v1/tools/digest_tool', asked);
    const again = await post(service, '/v1/tools/digest_tool', turned);
    expect([first.body.isCached, again.body.isCached]).toEqual([false, true]);
    expect(again.body.outcome).toEqual(first.body.outcome);
    const after = await metricsOf(service, 'saccade_tools_cache_hits_total{tool="digest_tool"}');
    expect(after).not.toEqual(before);
    for (const isCached of [false, false]) {
      const { body } = await post(service, '/v1/tools/device_tool', asked);
      expect(body.isCached).toBe(isCached);
    }
  });

  it('that come together and are equal are made once', async () => {
    const asked = { arguments: { ticket: 'together' }, images: [sentImage] };
    const answers = await Promise.all(
      [1, 2, 3, 4].map(() => post(service, '/v1/tools/show_tool', asked)),
    );
    expect(answers.filter(({ body }) => body.isCached === false)).toHaveLength(1);
  });

  it('go on in batches to tools that take them', async () => {
    const asked = Array.from({ length: 16 }, () =>
      post(service, '/v1/tools/device_tool', request()),
    );
    const answers = await Promise.all(asked);
    expect(answers.every(({ status }) => status === 200)).toBe(true);
    const [line = ''] = await metricsOf(
      service,
      'saccade_tools_batch_size_bucket{le="1",tool="device_tool"}',
    );
    const [all = ''] = await metricsOf(
      service,
      'saccade_tools_batch_size_count{tool="device_tool"}',
    );
    expect(Number(line.split(' ')[1])).toBeLessThan(Number(all.split(' ')[1]));
  });
});

describe('a batch', () => {
  it('answers each call as it would be alone, in their order', async () => {
    const { status, body } = await post(service, '/v1/batch', {
      calls: [
        { tool: 'digest_tool', ...request() },
        { tool: 'no_such_tool', ...request() },
        { tool: 'digest_tool', ...request({ image_index: 5 }) },
        { tool: 'digest_tool', ...request({}, { images: [{ name: 'a', png: 'AAAA' }] }) },
        { tool: 'digest_tool', ...request({ fault: 'garbage' }) },
        { tool: 'digest_tool', ...request({}, { version: '0' }) },
        { tool: 'digest_tool', ...request({ fault: 'hang' }, { deadlineMs: 100 }) },
      ],
    });
    expect(status).toBe(200);
    expect(body.answers).toMatchObject([
      { status: 200, ...right },
      { status: 404, error: { code: 'unknown-tool' } },
      { status: 200, outcome: { kind: 'exception', error: { type: 'BadArgument' } } },
      { status: 400, error: { code: 'data' } },
      { status: 500, error: { code: 'tool-garbled' } },
      { status: 409, error: { code: 'tool-version' } },
      { status: 504, error: { code: 'tool-deadline' } },
    ]);
  });
});

describe('a deadline', () => {
  it('that comes with the call ends it, and drops what comes later', async () => {
    const { status, body } = await call({ fault: 'slow' }, { deadlineMs: 100 });
    expect([status, (body.error as { code: string }).code]).toEqual([504, 'tool-deadline']);
    expect(await call()).toMatchObject({ status: 200 });
    // The tool goes on for a while, and what it gives then is nobody's.
    const after = await metricsOf(service, 'saccade_tools_call_seconds_count{tool="digest_tool"');
    await new Promise((resolve) => setTimeout(resolve, 900));
    expect(await metricsOf(service, 'saccade_tools_call_seconds_count{tool="digest_tool"')).toEqual(
      after,
    );
  });
});

describe('a key', () => {
  it('sent again has the same answer, and the call is made once', async () => {
    const headers = { 'idempotency-key': 'once' };
    const body = request();
    const path = '/v1/tools/device_tool';
    const count = async () =>
      (await metricsOf(service, 'saccade_tools_call_seconds_count{tool="device_tool"')).join();
    const first = await post(service, path, body, { headers });
    const after = await count();
    const again = await post(service, path, body, { headers });
    expect(again.headers.get('idempotency-replayed')).toBe('true');
    expect(again.body).toEqual(first.body);
    expect(await count()).toBe(after);
    expect((await post(service, path, request(), { headers })).status).toBe(422);
  });

  it('of a call that failed runs again', async () => {
    const headers = { 'idempotency-key': 'failed' };
    const body = request({ fault: 'garbage' });
    for (const _ of [1, 2]) {
      const answer = await post(service, '/v1/tools/digest_tool', body, { headers });
      expect([answer.status, answer.headers.get('idempotency-replayed')]).toEqual([500, null]);
    }
  });
});

it('stops a call when its client hangs up', async () => {
  const controller = new AbortController();
  const { signal } = controller;
  const asked = post(service, '/v1/tools/digest_tool', request({ fault: 'hang' }), { signal });
  const left = 'saccade_tools_call_seconds_count{tool="digest_tool",outcome="left"}';
  await until(async () => (await get(service, '/health')).body.concurrent_requests === 1);
  controller.abort();
  await expect(asked).rejects.toThrow();
  expect(await until(async () => (await metricsOf(service, left)).length === 1)).toBe(true);
  expect((await get(service, '/health')).body.concurrent_requests).toBe(0);
});

it('turns away what would wait too long, before anything was started', async () => {
  const small = await startTools({
    own: [faulty],
    limits: { maxQueued: 1, maxRunning: 1 },
  });
  try {
    const path = '/v1/tools/digest_tool';
    const asked = [1, 2, 3, 4].map(() => post(small, path, request({ fault: 'slow' })));
    const answers = await Promise.all(asked);
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 200, 429, 429]);
    const refused = answers.find(({ status }) => status === 429);
    expect(refused?.headers.get('retry-after')).toBe('1');
    expect(refused?.body).toMatchObject({ error: { code: 'tool-full' } });
  } finally {
    await small.drain(1);
  }
});

describe('what it says of itself', () => {
  it('is a document that an OpenAPI validator accepts, with every tool in it', async () => {
    const { body } = await get(service, '/openapi.json');
    const { valid, errors } = await new Validator().validate(body);
    expect([valid, errors]).toEqual([true, undefined]);
    const { paths } = body as { paths: Record<string, object> };
    expect(Object.keys(paths)).toEqual(
      expect.arrayContaining(['/v1/tools/digest_tool', '/v1/batch', '/get_observation', '/ready']),
    );
    const text = JSON.stringify(paths['/v1/tools/digest_tool']);
    expect(text).toContain('"image_index"');
  });

  it('is a list of tools that holds what prompts and checks need', async () => {
    const { body } = await get(service, '/v1/tools');
    expect(body).toMatchObject({
      wire: 1,
      tools: [
        { name: 'digest_tool', isDeterministic: true, example: {}, parameters: { type: 'object' } },
        { name: 'show_tool' },
        { name: 'device_tool', isDeterministic: false },
      ],
    });
  });

  it('has the fields of verl-tool’s servers', async () => {
    const { body } = await get(service, '/health');
    expect(body).toMatchObject({
      ...{ status: 'healthy', concurrent_requests: 0, tools: names },
      ...{ thread_pool_size: expect.any(Number), active_tasks: expect.any(Number) },
      ...{ max_concurrent: expect.any(Number), uptime_seconds: expect.any(Number) },
    });
    expect((await get(service, '/metrics.json')).body).toMatchObject({
      ...{ active_requests: 0, tools_initialized: 3, cached_responses: expect.any(Number) },
      config: { hashing_enabled: true, max_concurrent: expect.any(Number) },
    });
  });

  it('counts calls, queues, batches and restarts for Prometheus', async () => {
    const lines = (await metricsOf(service, 'saccade_tools_')).join('\n');
    for (const name of ['queue_length', 'running', 'batch_size_count', 'call_seconds_count']) {
      expect(lines).toContain(`saccade_tools_${name}{tool="digest_tool"`);
    }
    expect(lines).toContain('saccade_tools_cache_bytes ');
  });
});

it('is ready once every tool has answered a first call, and says what it waits for', async () => {
  const { openToolService } = await import('./service.ts');
  const { python } = await import('./service.fixture.ts');
  const starting = await openToolService({
    ...{ python, modules: [loadModule] },
    // Longer than the first question takes on a busy machine.
    placement: { processes: [faultyProcess({ loadSeconds: 3 })] },
  });
  try {
    const first = await get(starting, '/ready');
    expect(first).toMatchObject({ status: 503, body: { error: { code: 'not-ready' } } });
    expect(first.headers.get('retry-after')).toBe('1');
    expect(await until(async () => (await get(starting, '/ready')).status === 200)).toBe(true);
  } finally {
    await starting.drain(1);
  }
});
