/** The client against servers that fail in every way: what is sent again, and what is believed. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import { afterEach, describe, expect, it } from 'vitest';
import { HttpClient, type HttpClientOptions } from './http-client.ts';
import { HttpError } from './http-error.ts';
import { patientFetch } from './patient-fetch.ts';

type Answer = (request: IncomingMessage, response: ServerResponse, call: number) => void;

const closes: (() => void)[] = [];
afterEach(() => {
  for (const close of closes.splice(0)) close();
});

async function serve(answer: Answer, options: Partial<HttpClientOptions> = {}) {
  const asked: IncomingMessage[] = [];
  const server = createServer((request, response) => {
    response.on('error', () => {});
    asked.push(request);
    answer(request, response, asked.length - 1);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closes.push(() => {
    server.close();
    server.closeAllConnections();
  });
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/api/`;
  const client = new HttpClient({ baseUrl, firstPauseSeconds: 0.01, retries: 2, ...options });
  return { client, asked };
}

const post = { method: 'POST', path: '/x', body: '{}' } as const;
const get = { method: 'GET', path: '/x' } as const;

async function failureOf(act: Promise<unknown>): Promise<HttpError> {
  const error: unknown = await act.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(HttpError);
  return error as HttpError;
}

describe('what is sent again', () => {
  it('is what was turned away with the time to come again, and the caller hears of it', async () => {
    const heard: unknown[] = [];
    const onRetry = ({ status }: HttpError): void => void heard.push(status);
    const answer: Answer = (_, response, call) => {
      if (call < 2) response.writeHead(call === 0 ? 429 : 503, { 'retry-after': '0' }).end();
      else response.end('{"ok":true}');
    };
    const { client, asked } = await serve(answer, { onRetry });
    expect(await client.json(post)).toEqual({ ok: true });
    expect(asked).toHaveLength(3);
    expect(heard).toEqual([429, 503]);
    expect(asked[0]?.url).toBe('/api/x');
  });

  it('is at last answered as the server answered', async () => {
    const { client, asked } = await serve((_, response) => {
      response.writeHead(429, { 'retry-after': '0' }).end('busy');
    });
    expect((await client.send(post)).status).toBe(429);
    const error = await failureOf(client.json(post));
    expect(error).toMatchObject({ fault: 'overloaded', mayHaveRun: false, retryAfterMs: 0 });
    expect(asked).toHaveLength(6);
  });

  it.each([
    [false, 1],
    [true, 3],
  ])(
    'is what the server failed to handle only where all may be repeated: %s',
    async (repeatsFailed, count) => {
      const answer: Answer = (_, response) => response.writeHead(502).end('proxy');
      const { client, asked } = await serve(answer, { repeatsFailed });
      expect((await client.send(post)).status).toBe(502);
      expect(asked).toHaveLength(count);
      // Nothing changes between a request that is refused and its repetition.
      const refused: Answer = (_, response) => response.writeHead(422).end('no');
      const other = await serve(refused, { repeatsFailed });
      expect((await other.client.send(post)).status).toBe(422);
      expect(other.asked).toHaveLength(1);
    },
  );

  it.each([
    ['POST', undefined, 1],
    ['GET', undefined, 3],
    ['POST', 'key', 3],
  ] as const)(
    'after a broken connection: %s with key %s is sent %i times',
    async (method, idempotencyKey, count) => {
      const { client, asked } = await serve((_, response) => response.destroy());
      const error = await failureOf(
        client.send({ method, path: '/x', ...(idempotencyKey && { idempotencyKey }) }),
      );
      expect(error).toMatchObject({ fault: 'broken', mayHaveRun: true });
      expect(asked).toHaveLength(count);
      expect(asked[0]?.headers['idempotency-key']).toBe(idempotencyKey);
    },
  );

  it('is never what failed or was refused', async () => {
    const { client, asked } = await serve((_, response, call) => {
      response.writeHead([500, 503, 404][call] ?? 200).end('why');
    });
    expect(await failureOf(client.text(get))).toMatchObject({ fault: 'failed', mayHaveRun: true });
    expect(await failureOf(client.text(get))).toMatchObject({ fault: 'overloaded', status: 503 });
    const refused = await failureOf(client.text(get));
    expect(refused).toMatchObject({ fault: 'refused', mayHaveRun: false, isTransient: false });
    expect(asked).toHaveLength(3);
  });

  it('was not started where nobody listens', async () => {
    const client = new HttpClient({
      baseUrl: 'http://127.0.0.1:9',
      retries: 1,
      firstPauseSeconds: 0,
    });
    const error = await failureOf(client.send(post));
    expect(error).toMatchObject({ fault: 'unreachable', mayHaveRun: false, isTransient: true });
  });
});

it('reads the refusal of a service of this kit', async () => {
  const refusal = { code: 'queue-full', fact: 'It is full.', remedy: 'Come later.' };
  const { client } = await serve((_, response) => {
    response.writeHead(409).end(JSON.stringify({ error: refusal }));
  });
  const error = await failureOf(client.json(post));
  expect(error.refusal).toEqual(refusal);
  expect(error.message).toMatch(/answered 409: It is full\. Come later\./);
});

describe('time', () => {
  it('of one try is limited, body included', async () => {
    const { client } = await serve((_, response) => response.write('{'), { timeoutSeconds: 0.1 });
    expect(await failureOf(client.send(post))).toMatchObject({
      fault: 'timeout',
      mayHaveRun: true,
    });
  });

  it('ends with the signal, with its reason, also between tries', async () => {
    const { client } = await serve((_, response) => {
      response.writeHead(503, { 'retry-after': '30' }).end();
    });
    const controller = new AbortController();
    const sent = client.send({ ...post, signal: controller.signal });
    setTimeout(() => controller.abort(new Error('enough')), 50);
    await expect(sent).rejects.toThrow('enough');
    await expect(client.send({ ...post, signal: controller.signal })).rejects.toThrow('enough');
  });
});

describe('an answer', () => {
  const flood = (response: ServerResponse, piece: Buffer): void => {
    const next = (): void => {
      while (!response.destroyed && response.write(piece));
      if (!response.destroyed) response.once('drain', next);
    };
    next();
  };

  it.each([
    ['endless', (response: ServerResponse) => flood(response, Buffer.alloc(65_536, 'x'))],
    [
      'of a forged length',
      (response: ServerResponse) => {
        response.writeHead(200, { 'content-length': '999999999999' });
        flood(response, Buffer.alloc(65_536, 'x'));
      },
    ],
    [
      'that unpacks to much',
      (response: ServerResponse) => {
        response.writeHead(200, { 'content-encoding': 'gzip' });
        response.end(gzipSync(Buffer.alloc(64 * 2 ** 20)));
      },
    ],
  ])('%s is read no further than the bound', async (_, answer) => {
    const before = process.memoryUsage().rss;
    const { client } = await serve((_request, response) => answer(response), {
      maxAnswerBytes: 2 ** 20,
    });
    const error = await failureOf(client.send(get));
    expect(error).toMatchObject({ fault: 'oversized' });
    expect(error.message).toMatch(/more than 1048576 bytes/);
    expect(process.memoryUsage().rss - before).toBeLessThan(160 * 2 ** 20);
  });

  it.each([['<html>'], ['['.repeat(100_000)], [`[${'0,'.repeat(2 ** 21)}0]`]])(
    'that is no JSON within bounds is garbled (%#)',
    async (text) => {
      const { client } = await serve((_, response) => response.end(text));
      expect(await failureOf(client.json(get))).toMatchObject({ fault: 'garbled' });
    },
  );

  it('may come late where the fetch is patient', async () => {
    const patient = patientFetch();
    const { client, asked } = await serve(
      (_, response) => setTimeout(() => response.end('1'), 100),
      { fetch: patient.fetch, timeoutSeconds: Number.POSITIVE_INFINITY, token: 'mine' },
    );
    expect(await client.json(post)).toBe(1);
    expect(asked[0]?.headers.authorization).toBe('Bearer mine');
    await patient.dispose();
  });
});

it('is made with an address and numbers that can be', () => {
  for (const baseUrl of ['', 'elsewhere', 'ftp://a', 'http://']) {
    expect(() => new HttpClient({ baseUrl })).toThrow(/expected an address/);
  }
  const baseUrl = 'http://a';
  expect(() => new HttpClient({ baseUrl, retries: -1 })).toThrow(/retries/);
  expect(() => new HttpClient({ baseUrl, timeoutSeconds: 0 })).toThrow(/timeoutSeconds/);
  expect(JSON.stringify(new HttpClient({ baseUrl, token: 'secret' }))).not.toContain('secret');
});
