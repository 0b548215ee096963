/** The service kit over real sockets: who may ask, what is refused, and how it ends. */
import { execFile } from 'node:child_process';
import { request as httpRequest } from 'node:http';
import { promisify } from 'node:util';
import type { RunEvent } from '@saccade/core';
import { afterEach, describe, expect, it } from 'vitest';
import { drainUnderHalfSentBodies, fuzzService } from '../contract.ts';
import { type EchoService, openEcho } from './echo.fixture.ts';
import { holdOpen, sendRaw } from './raw-socket.ts';

let service: EchoService | undefined;
afterEach(async () => {
  await service?.drain(0.1);
  service = undefined;
});

async function open(options: Parameters<typeof openEcho>[0] = {}): Promise<EchoService> {
  service = await openEcho(options);
  return service;
}

const post = (
  { url }: EchoService,
  path: string,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): Promise<Response> =>
  fetch(`${url}${path}`, {
    method: 'POST',
    body: typeof body === 'string' ? body : JSON.stringify(body),
    headers,
  });

const get = async ({ url }: EchoService, path: string, ...lines: string[]) =>
  (await sendRaw(url, [`GET ${path} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`])).status;

async function codeOf(answer: Response): Promise<unknown> {
  return ((await answer.json()) as { error: { code: string } }).error.code;
}

describe('who may ask', () => {
  it.each([
    ['127.0.0.1', 200],
    ['127.0.0.1:8710', 200],
    ['127.9.9.9', 200],
    ['localhost:1', 200],
    ['LOCALHOST', 200],
    ['[::1]:80', 200],
    ['proxy.example', 200],
    ['evil.example', 403],
    ['127.0.0.1.evil.example', 403],
    ['localhost.evil.example', 403],
    ['10.0.0.1', 403],
    ['127.0.0.1@evil.example', 403],
    ['', 403],
  ])('a loopback service asked as %j answers %i, on every path', async (host, status) => {
    const own = await open({ allowedHosts: ['proxy.example'] });
    for (const path of ['/health', '/metrics']) {
      expect(await get(own, path, `host: ${host}`), path).toBe(status);
    }
  });

  it('does not take the name of the target for the name of the host', async () => {
    const own = await open();
    expect(await get(own, 'http://evil.example/health', 'host: 127.0.0.1')).toBe(403);
    expect(await get(own, '/health', 'host: 127.0.0.1', 'host: evil.example')).toBeOneOf([
      400, 403,
    ]);
    expect(await get(own, '/health')).toBe(400);
  });

  it('a service for everybody is asked by addresses and known names', async () => {
    const own = await open({ host: '0.0.0.0', allowsAnyone: true });
    const local = { ...own, url: own.url.replace('0.0.0.0', '127.0.0.1') };
    expect(await get(local, '/health', 'host: 192.168.1.7:80')).toBe(200);
    expect(await get(local, '/health', 'host: rebound.example')).toBe(403);
  });

  it('no web page without a token, nor its health', async () => {
    const own = await open();
    for (const path of ['/health', '/metrics']) {
      expect(await get(own, path, 'host: localhost', 'origin: https://a.example')).toBe(403);
    }
  });

  it('only who has the token, where there is one; health tells a stranger little', async () => {
    const own = await open({ token: 'secret' });
    const ask = async (authorization?: string) =>
      (await post(own, '/echo', {}, authorization === undefined ? {} : { authorization })).status;
    expect(await ask()).toBe(401);
    expect(await ask('Bearer secre')).toBe(401);
    expect(await ask('Bearer secret2')).toBe(401);
    expect(await ask('secret')).toBe(401);
    expect(await ask('Bearer secret')).toBe(200);
    expect(await get(own, '/metrics', 'host: localhost')).toBe(401);
    expect(await get(own, '/health', 'host: localhost')).toBe(200);
    expect(await get(own, '/health', 'host: evil.example')).toBe(403);
  });

  it('is checked before it listens', async () => {
    await expect(open({ host: '0.0.0.0' })).rejects.toMatchObject({ code: 'config' });
    await expect(open({ token: '' })).rejects.toMatchObject({ code: 'config' });
    const own = await open();
    const port = Number(new URL(own.url).port);
    await expect(openEcho({ port })).rejects.toThrow(/Port \d+ of 127\.0\.0\.1 is taken/);
  });
});

describe('limits', () => {
  it('refuse oversized bodies without holding them, whatever is declared', async () => {
    const own = await open({ appOptions: { bodies: { maxBytes: 1000 } } });
    const large = await post(own, '/echo', 'x'.repeat(1001));
    expect([large.status, await codeOf(large)]).toEqual([413, 'too-large']);
    const chunked = await sendRaw(own.url, [
      'POST /echo HTTP/1.1\r\nhost: localhost\r\ntransfer-encoding: chunked\r\n\r\n',
      ...Array.from({ length: 10 }, () => `c8\r\n${'x'.repeat(200)}\r\n`),
    ]);
    expect(chunked.status).toBe(413);
    expect((await post(own, '/echo', JSON.stringify('x'.repeat(998)))).status).toBe(200);
  });

  it('keep the memory of many bodies within twice the largest', async () => {
    const maxBytes = 32 * 2 ** 20;
    const own = await open({ appOptions: { bodies: { maxBytes } } });
    const before = process.memoryUsage().rss;
    let most = 0;
    const timer = setInterval(() => {
      most = Math.max(most, process.memoryUsage().rss - before);
    }, 20);
    const statuses = await uploadElsewhere(own.url, 12, 48);
    clearInterval(timer);
    for (const status of statuses as unknown[]) expect(status).toBeOneOf([413, 503, null]);
    // All bodies together, and what has been read and waits for the collector.
    expect(most).toBeLessThan(2 * maxBytes + 192 * 2 ** 20);
    expect((await post(own, '/echo', {})).status).toBe(200);
  });

  it.each([
    ['['.repeat(100_000), 400, 'too-deep'],
    [`${'{"a":'.repeat(100)}1${'}'.repeat(100)}`, 400, 'too-deep'],
    [`[${'0,'.repeat(2 ** 21)}0]`, 400, 'too-many-values'],
    [`["${'[{,:'.repeat(1000)}\\"[[[\\\\"]`, 200, undefined],
    ['"\\', 400, 'bad-request'],
    ['', 400, 'bad-request'],
  ])('check JSON before it is built (%#)', async (body, status, code) => {
    const answer = await post(await open(), '/echo', body);
    expect(answer.status).toBe(status);
    if (code !== undefined) expect(await codeOf(answer)).toBe(code);
  });

  it('refuse compressed bodies and bytes that are no text', async () => {
    const own = await open();
    expect((await post(own, '/echo', '{}', { 'content-encoding': 'gzip' })).status).toBe(415);
    const bytes = Buffer.concat([Buffer.from('"'), Buffer.from([0xff, 0xfe]), Buffer.from('"')]);
    const answer = await fetch(`${own.url}/echo`, { method: 'POST', body: bytes });
    expect(answer.status).toBe(400);
  });

  it('hold for each client: requests at a time, requests a second', async () => {
    const own = await open({ clients: { maxConcurrent: 2 } });
    const waiting = [1, 2].map(() => post(own, '/wait', { ms: 400 }));
    while (own.counts.wait < 2) await new Promise((next) => setTimeout(next, 5));
    const third = await post(own, '/wait', { ms: 0 });
    expect([third.status, third.headers.get('retry-after')]).toEqual([429, '1']);
    expect((await fetch(`${own.url}/health`)).status).toBe(200);
    expect((await Promise.all(waiting)).map(({ status }) => status)).toEqual([200, 200]);
    expect((await post(own, '/wait', { ms: 0 })).status).toBe(200);
    await own.drain(0.1);
    const slow = await open({ clients: { requestsPerSecond: 1, burst: 3 } });
    const statuses = await Promise.all([1, 2, 3, 4, 5].map(() => post(slow, '/echo', 1)));
    expect(statuses.map(({ status }) => status).sort()).toEqual([200, 200, 200, 429, 429]);
  });

  it('end clients that are slow to send headers or a body, or to read', async () => {
    const own = await open({
      headerSeconds: 0.3,
      sendSeconds: 0.3,
      appOptions: { bodies: { seconds: 0.3 } },
    });
    const header = await sendRaw(own.url, ['POST /echo HTTP/1.1\r\nhost: loc']);
    expect([header.status, header.isClosed]).toEqual([408, true]);
    const head = 'POST /echo HTTP/1.1\r\nhost: localhost\r\ncontent-length: 9\r\n\r\n';
    expect((await sendRaw(own.url, [head, '{"a'])).status).toBe(408);
    const reader = holdOpen(
      own.url,
      `POST /large HTTP/1.1\r\nhost: localhost\r\ncontent-length: 0\r\n\r\n`,
    );
    reader.pause();
    const closed = new Promise((resolve) => reader.once('close', resolve));
    await new Promise((next) => setTimeout(next, 1_000));
    reader.resume();
    await closed;
    const metrics = await (await fetch(`${own.url}/metrics`)).text();
    for (const rule of ['slow-headers', 'slow-body', 'slow-reader']) {
      expect(metrics).toMatch(
        new RegExp(`saccade_echo_violations_total\\{rule="${rule}"\\} [1-9]`),
      );
    }
  });
});

it('reports who broke which rule, a flood as one', async () => {
  const events: RunEvent[] = [];
  const own = await open({ onEvent: (event) => events.push(event) });
  for (let time = 0; time < 50; time++) await get(own, '/health', 'host: evil.example');
  expect(events).toEqual([
    {
      ...{ kind: 'violation', service: 'echo', client: '127.0.0.1', rule: 'host', count: 1 },
      ...{ request: 'GET /health', detail: expect.stringContaining('evil.example') },
    },
  ]);
  const metrics = await (await fetch(`${own.url}/metrics`)).text();
  expect(metrics).toContain('saccade_echo_violations_total{rule="host"} 50');
});

describe('a call', () => {
  it('is given up when its client hangs up', async () => {
    const own = await open();
    const going = httpRequest(`${own.url}/wait`, { method: 'POST' });
    going.on('error', () => {});
    going.end('{"ms": 60000}');
    while (own.counts.wait === 0) await new Promise((next) => setTimeout(next, 5));
    going.destroy();
    while (own.counts.aborted === 0) await new Promise((next) => setTimeout(next, 5));
  });

  it('is given up at its deadline, and answered', async () => {
    const own = await open({ deadlineSeconds: 0.2 });
    const answer = await post(own, '/wait', { ms: 60_000 });
    expect([answer.status, await codeOf(answer)]).toEqual([504, 'deadline']);
    expect(own.counts.aborted).toBe(1);
  });

  it('that fails is a fault, and the service goes on', async () => {
    const own = await open();
    expect((await post(own, '/fault', {})).status).toBe(500);
    expect((await post(own, '/nothing', {})).status).toBe(404);
    expect((await post(own, '/echo', [1])).status).toBe(200);
  });
});

describe('an idempotency key', () => {
  const key = { 'idempotency-key': 'k1' };

  it('lets a request run once, also while it runs', async () => {
    const own = await open();
    const both = await Promise.all([post(own, '/count', {}, key), post(own, '/count', {}, key)]);
    const again = await post(own, '/count', {}, key);
    const bodies = await Promise.all([...both, again].map((answer) => answer.json()));
    expect(bodies).toEqual([{ count: 1 }, { count: 1 }, { count: 1 }]);
    expect(again.headers.get('idempotency-replayed')).toBe('true');
    expect(await (await post(own, '/count', {})).json()).toEqual({ count: 2 });
    expect((await post(own, '/count', { status: 200 }, key)).status).toBe(422);
    expect((await post(own, '/count', {}, { 'idempotency-key': 'x'.repeat(300) })).status).toBe(
      400,
    );
  });

  it('keeps no failure', async () => {
    const own = await open();
    expect((await post(own, '/count', { status: 500 }, key)).status).toBe(500);
    expect((await post(own, '/count', { status: 500 }, key)).status).toBe(500);
    expect(own.counts.count).toBe(2);
  });
});

describe('the end', () => {
  it('waits for calls that run, and refuses others meanwhile', async () => {
    const own = await open();
    const running = post(own, '/wait', { ms: 1_500 });
    while (own.counts.wait === 0) await new Promise((next) => setTimeout(next, 5));
    const drained = own.drain(5);
    const late = await post(own, '/echo', {});
    expect([late.status, late.headers.get('retry-after')]).toEqual([503, '5']);
    expect((await fetch(`${own.url}/health`)).status).toBe(503);
    expect(await (await running).json()).toEqual({ waited: 1_500 });
    await drained;
    await expect(post(own, '/echo', {})).rejects.toThrow();
  });

  it('comes at once after half-sent bodies and headers', async () => {
    const own = await open();
    const under = { ...own, paths: ['/echo', '/wait'], maxBytes: 1000 };
    await drainUnderHalfSentBodies(under);
  });

  it('comes within the grace for calls that listen to their signal', async () => {
    const own = await open();
    const running = post(own, '/wait', { ms: 60_000 });
    while (own.counts.wait === 0) await new Promise((next) => setTimeout(next, 5));
    await own.drain(1.5);
    expect((await running).status).toBe(500);
  });
});

it('answers malformed requests with 2xx or 4xx, and health meanwhile', async () => {
  const own = await open({ appOptions: { bodies: { maxBytes: 300_000 } } });
  const under = { url: own.url, paths: ['/echo', '/count'], maxBytes: 300_000 };
  const report = await fuzzService(under, { requests: 600 });
  expect(report.problems).toEqual([]);
  expect(report.statuses['400']).toBeGreaterThan(20);
}, 120_000);

/** Chunked bodies at a time from a process of their own; their statuses, null for a broken one. */
async function uploadElsewhere(url: string, bodies: number, mebibytes: number): Promise<unknown> {
  const program = `
    const { request } = require('node:http');
    const piece = Buffer.alloc(2 ** 20, 'x');
    const upload = () => new Promise((resolve) => {
      const sending = request('${url}/echo', { method: 'POST' }, (response) => {
        response.resume();
        resolve(response.statusCode);
        sending.destroy();
      });
      sending.on('error', () => resolve(null));
      const next = (left) => {
        if (left === 0 || sending.destroyed) return;
        if (sending.write(piece)) setImmediate(() => next(left - 1));
        else sending.once('drain', () => next(left - 1));
      };
      next(${mebibytes});
    });
    Promise.all(Array.from({ length: ${bodies} }, upload)).then((all) => {
      console.log(JSON.stringify(all));
      process.exit();
    });`;
  const { stdout } = await promisify(execFile)(process.execPath, ['-e', program]);
  return JSON.parse(stdout);
}
