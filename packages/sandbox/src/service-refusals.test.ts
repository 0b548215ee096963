/** The service's refusals: hostile requests, strangers, too many at once, and all at its end. */
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { postTo, startService, statsOf, until } from './service.fixture.ts';
import type { SandboxService } from './service.ts';

let service: SandboxService;
beforeAll(async () => {
  service = await startService({ maxBytes: 4 * 2 ** 20 });
}, 300_000);
afterAll(() => service?.drain());

const post = (path: string, body: unknown, headers?: Readonly<Record<string, string>>) =>
  postTo(service, path, body, headers);

describe('what a hostile client sends', () => {
  it.each([
    ['/v1/sessions', '{"a', 400, 'bad-request'],
    ['/v1/sessions', { images: [{ name: 'a', encoded: '***' }] }, 400, 'bad-request'],
    ['/v1/sessions', { images: [{ name: 'a b', encoded: 'AAAA' }] }, 400, 'data'],
    ['/v1/sessions', { images: [{ name: 'a', encoded: 'AAAA' }] }, 400, 'data'],
    ['/v1/sessions', { capture: { everything: true } }, 400, 'bad-request'],
    ['/v1/sessions', { repairs: { cropBoxes: 'all' } }, 400, 'bad-request'],
    ['/v1/sessions', JSON.stringify({ x: 'y'.repeat(5 * 2 ** 20) }), 413, 'too-large'],
    ['/v1/sessions/none/execute', { code: '1' }, 404, 'unknown-session'],
    ['/v1/sessions/../../etc', {}, 404, 'unknown-route'],
    ['/run_code', { code: '1', language: 'cobol' }, 422, 'language'],
    ['/run_code', { code: 1, language: 'python' }, 400, 'bad-request'],
    [
      '/run_code',
      { code: '1', language: 'python', files: { '/usr/x': 'AAAA' } },
      400,
      'bad-request',
    ],
    ['/get_observation', { trajectory_ids: ['a'], actions: [] }, 400, 'bad-request'],
    ['/get_observation', { trajectory_ids: [], actions: [] }, 400, 'bad-request'],
    ['/get_observation', { trajectory_ids: ['a'], actions: ['b'], x: [1, 2] }, 400, 'bad-request'],
    ['/nothing', {}, 404, 'unknown-route'],
  ])('%s is answered, case %#', async (path, body, status, code) => {
    expect(await post(path, body)).toMatchObject({ status, body: { error: { code } } });
  });

  it('is no page of the web', async () => {
    const answer = await post('/v1/sessions', {}, { origin: 'https://example.org' });
    expect(answer).toMatchObject({ status: 403, body: { error: { code: 'origin' } } });
  });

  it('does not stop the others', async () => {
    const port = Number(new URL(service.url).port);
    const socket = connect(port, '127.0.0.1');
    socket.on('error', () => {});
    socket.write('POST /run_code HTTP/1.1\r\nhost: x\r\ncontent-length: 1000000000\r\n\r\n{');
    const { body } = await post('/run_code', { code: 'print(1)', language: 'python' });
    expect(body).toMatchObject({ status: 'Success' });
    socket.destroy();
  });
});

describe('access', () => {
  it('needs the token, where there is one', async () => {
    const guarded = await startService({ token: 'secret' });
    try {
      const ask = (headers: Record<string, string>) =>
        fetch(`${guarded.url}/v1/sessions`, { method: 'POST', body: '{}', headers });
      expect((await ask({})).status).toBe(401);
      expect((await ask({ authorization: 'Bearer secre' })).status).toBe(401);
      expect((await ask({ authorization: 'Bearer secret' })).status).toBe(201);
      expect((await fetch(`${guarded.url}/metrics`)).status).toBe(401);
      expect((await fetch(`${guarded.url}/health`)).status).toBe(200);
    } finally {
      await guarded.drain();
    }
  });

  it('is not opened to a network without one', async () => {
    await expect(startService({ host: '0.0.0.0' })).rejects.toMatchObject({ code: 'config' });
  });
});

describe('under load', () => {
  it('refuses who would wait too long, and says when to come again', async () => {
    const small = await startService({ sandbox: { maxSessions: 1, maxQueued: 1, maxRunning: 1 } });
    try {
      const slow = { code: 'import time; time.sleep(0.5)', language: 'python' };
      const asks = [1, 2, 3, 4].map(() =>
        fetch(`${small.url}/run_code`, { method: 'POST', body: JSON.stringify(slow) }),
      );
      const answers = await Promise.all(asks);
      expect(answers.map(({ status }) => status).sort()).toEqual([200, 200, 429, 429]);
      const refused = answers.find(({ status }) => status === 429);
      expect(refused?.headers.get('retry-after')).toBe('1');
    } finally {
      await small.drain();
    }
  });

  it('finishes what runs when it is told to stop, and refuses the rest', async () => {
    const stopping = await startService();
    const run = (code: string) =>
      fetch(`${stopping.url}/run_code`, {
        method: 'POST',
        body: JSON.stringify({ code, language: 'python' }),
      });
    const running = run('import time; time.sleep(0.8); print("done")');
    await until(async () => (await statsOf(stopping)).running === 1);
    const drained = stopping.drain();
    const late = await run('print(1)');
    expect(late.status).toBe(503);
    expect(late.headers.get('retry-after')).toBe('5');
    expect((await fetch(`${stopping.url}/health`)).status).toBe(503);
    expect(await (await running).json()).toMatchObject({ run_result: { stdout: 'done\n' } });
    await drained;
    await expect(run('print(1)')).rejects.toThrow();
  });

  it('gives up what still runs when the grace is over', async () => {
    const stopping = await startService();
    const running = fetch(`${stopping.url}/run_code`, {
      method: 'POST',
      body: JSON.stringify({ code: 'import time; time.sleep(600)', language: 'python' }),
    });
    await until(async () => (await statsOf(stopping)).running === 1);
    await stopping.drain(0.2);
    expect((await running).status).toBe(500);
  });
});
