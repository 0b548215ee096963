/** Our tools driven by the official client, over stdio and over streamable HTTP. */
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { type CallToolResult, JSONRPCMessageSchema } from '@modelcontextprotocol/sdk/types.js';
import { fuzzService } from '@saccade/http/contract';
import type { Service } from '@saccade/http/service';
import { ensurePython, type LocalSandbox, openSandbox, SandboxError } from '@saccade/sandbox';
import { imageTools, type Tool } from '@saccade/tools';
import { decode, encode } from 'fast-png';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { LineReader } from '../client/line-reader.ts';
import { type McpServiceOptions, openMcpService } from './serve-http.ts';
import { serveMcpOverStdio } from './serve-stdio.ts';
import type { ServedTools } from './tool-server.ts';

const environment = join(import.meta.dirname, '../../../../.cache/sandbox-venv');
const [width, height] = [64, 48];
const pixels = Uint8Array.from({ length: width * height * 3 }, (_, i) => (i * 7) % 251);
const photo = Buffer.from(encode({ width, height, channels: 3, data: pixels })).toString('base64');

let sandbox: LocalSandbox;
let folder: string;
beforeAll(async () => {
  const { python } = await ensurePython(environment);
  sandbox = await openSandbox({ python });
  folder = mkdtempSync(join(tmpdir(), 'saccade-shared-'));
  writeFileSync(join(folder, 'photo.png'), Buffer.from(photo, 'base64'));
  writeFileSync(join(folder, 'notes.txt'), 'no image');
  symlinkSync('/etc/passwd', join(folder, 'link.png'));
}, 300_000);
afterAll(async () => {
  rmSync(folder, { recursive: true });
  await sandbox.dispose();
});

const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

const served = (): ServedTools => ({ tools: imageTools, sandbox });

async function connected(transport: Transport): Promise<Client> {
  const client = new Client({ name: 'test', version: '1' });
  await client.connect(transport);
  closing.push(() => client.close());
  return client;
}

async function overHttp(
  options: Partial<McpServiceOptions> = {},
): Promise<Service & { port: number }> {
  const service = await openMcpService({ ...served(), onFault: () => {}, ...options });
  closing.push(() => service.drain(1));
  return { ...service, port: Number(new URL(service.url).port) };
}

const clientOf = ({ url }: Service, token?: string): Promise<Client> =>
  connected(
    new StreamableHTTPClientTransport(new URL(`${url}/mcp`), {
      ...(token !== undefined && {
        requestInit: { headers: { authorization: `Bearer ${token}` } },
      }),
    }),
  );

async function overStdio(options: Partial<ServedTools> = {}): Promise<Client> {
  const [input, output] = [new PassThrough(), new PassThrough()];
  const serving = serveMcpOverStdio({ ...served(), ...options, input, output });
  closing.push(async () => {
    input.end();
    await serving;
  });
  const transport: Transport = {
    start: async () => {
      const reader = new LineReader(2 ** 28, (line) => {
        transport.onmessage?.(JSONRPCMessageSchema.parse(JSON.parse(line)));
      });
      output.on('data', (piece: Buffer) => reader.push(piece));
    },
    send: async (message) => void input.write(`${JSON.stringify(message)}\n`),
    close: async () => transport.onclose?.(),
  };
  return await connected(transport);
}

const call = async (client: Client, name: string, given: object): Promise<CallToolResult> =>
  (await client.callTool({ name, arguments: given as Record<string, unknown> })) as CallToolResult;
const textOf = ({ content }: CallToolResult): string =>
  content.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('\n');

const broken: Tool = {
  ...{ name: 'broken', description: 'Breaks.', example: {} },
  parameters: { type: 'object', properties: {}, additionalProperties: false },
  call: async () => {
    throw new SandboxError('the fork server died');
  },
};

describe.each([
  ['stdio', () => overStdio()],
  ['streamable HTTP', async () => clientOf(await overHttp())],
])('over %s', (_, open) => {
  it('lists our tools with their schemas', async () => {
    const { tools } = await (await open()).listTools();
    expect(tools.map(({ name }) => name)).toEqual([
      'add_image',
      ...imageTools.map(({ name }) => name),
    ]);
    for (const { name, description, parameters } of imageTools) {
      const found = tools.find((tool) => tool.name === name);
      expect(found).toMatchObject({ description, inputSchema: parameters });
    }
  });

  it('works on images of the session, and names those it gives', async () => {
    const client = await open();
    const added = await call(client, 'add_image', { data: photo });
    expect(textOf(added)).toBe('Image: image_0 (64 x 48)');
    const crop = await call(client, 'image_zoom_in_tool', { bbox_2d: [8, 8, 48, 40] });
    expect(textOf(crop)).toBe('Image: image_1 (40 x 32)');
    const [image] = crop.content.filter((block) => block.type === 'image');
    const shown = decode(Buffer.from(image?.data ?? '', 'base64'));
    const original = decode(Buffer.from(photo, 'base64'));
    expect([...shown.data.slice(0, 3)]).toEqual([
      ...original.data.slice((8 * 64 + 8) * 3, (8 * 64 + 8) * 3 + 3),
    ]);
    const turned = await call(client, 'image_rotate_tool', { angle: 90, image_index: 1 });
    expect(textOf(turned)).toBe('Image: image_2 (32 x 40)');
  });

  it.each([
    ['no_tool', {}, /UnknownTool/],
    ['image_flip_tool', {}, /MissingArgument: The argument direction is missing/],
    ['image_flip_tool', { direction: 'up' }, /BadArgument/],
    ['image_flip_tool', { direction: 'horizontal', x: 1 }, /UnknownArgument/],
    ['image_flip_tool', { direction: 'horizontal', image_index: 7 }, /no picture 7/],
    ['add_image', {}, /MissingArgument/],
    ['add_image', { data: 'no base64!' }, /no base64/],
    ['add_image', { data: 'AAAA' }, /cannot be decoded/],
    ['add_image', { path: 'photo.png' }, /UnknownArgument/],
  ])('answers %s %j with isError', async (name, given, message) => {
    const answer = await call(await open(), name, given);
    expect(answer.isError).toBe(true);
    expect(textOf(answer)).toMatch(message);
  });
});

it('makes what breaks here an error of the protocol, not of the call', async () => {
  const client = await overStdio({ tools: [broken] });
  await expect(call(client, 'broken', {})).rejects.toMatchObject({ code: -32603 });
});

it('keeps a session within its limits', async () => {
  const client = await overStdio({ limits: { images: 2 } });
  for (let i = 0; i < 2; i++) await call(client, 'add_image', { data: photo });
  expect(textOf(await call(client, 'add_image', { data: photo }))).toMatch(/this session is full/);
});

describe('a shared folder', () => {
  it('gives images by their path', async () => {
    const client = await overStdio({ imageFolder: folder });
    expect(textOf(await call(client, 'add_image', { path: 'photo.png' }))).toMatch(
      /image_0 \(64 x 48\)/,
    );
  });
  it.each(['link.png', '../../etc/passwd', '/etc/passwd', 'none.png', '.', 'notes.txt', 'a\0b'])(
    'gives nothing for %j',
    async (path) => {
      const client = await overStdio({ imageFolder: folder });
      const answer = await call(client, 'add_image', { path });
      expect([answer.isError, textOf(answer)]).toEqual([
        true,
        expect.stringMatching(
          path === 'notes.txt' ? /cannot be decoded/ : /no such file in the folder/,
        ),
      ]);
    },
  );
});

describe('the HTTP side', () => {
  it('keeps the sessions of clients apart', async () => {
    const service = await overHttp();
    const [one, two] = [await clientOf(service), await clientOf(service)];
    await call(one, 'add_image', { data: photo });
    const other = await call(two, 'image_flip_tool', { direction: 'vertical' });
    expect(other.isError).toBe(true);
  });

  it('needs the token, where there is one, and the right name', async () => {
    const service = await overHttp({ token: 'secret' });
    await expect(clientOf(service)).rejects.toThrow();
    await expect(clientOf(service, 'wrong')).rejects.toThrow();
    expect((await (await clientOf(service, 'secret')).listTools()).tools.length).toBeGreaterThan(3);
    await expect(openMcpService({ ...served(), host: '0.0.0.0' })).rejects.toMatchObject({
      code: 'config',
    });
  });

  const post = (url: string, body: unknown, headers: Record<string, string> = {}) =>
    fetch(`${url}/mcp`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        ...headers,
      },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    });
  const initialize = {
    ...{ jsonrpc: '2.0', id: 1, method: 'initialize' },
    params: {
      protocolVersion: '2025-06-18',
      capabilities: {},
      clientInfo: { name: 'a', version: '1' },
    },
  };

  it.each([
    ['{', {}, 400],
    ['[]', {}, 400],
    [{ jsonrpc: '2.0', id: 1, method: 'tools/list' }, {}, 400],
    [{ jsonrpc: '2.0', id: 1, method: 'tools/list' }, { 'mcp-session-id': 'guess' }, 404],
    [initialize, { 'mcp-session-id': 'guess' }, 404],
    [initialize, { 'content-type': 'text/plain' }, 415],
    [initialize, { accept: 'text/html' }, 406],
    [{ ...initialize, params: {} }, {}, 400],
    ['['.repeat(10_000), {}, 400],
  ])('refuses %j with %j', async (body, headers, status) => {
    const { url } = await overHttp();
    const answer = await post(url, body, headers as Record<string, string>);
    expect(answer.status).toBe(status);
    expect(await answer.json()).toHaveProperty('error');
  });

  it('ends sessions that are ended, unused, or too many', async () => {
    const service = await overHttp({ maxSessions: 2, idleSeconds: 1.5 });
    const begin = () => post(service.url, initialize);
    const first = await begin();
    const id = first.headers.get('mcp-session-id') ?? '';
    expect(id.length).toBe(43);
    await begin();
    expect((await begin()).status).toBe(503);
    const headers = { 'mcp-session-id': id };
    expect((await fetch(`${service.url}/mcp`, { method: 'DELETE', headers })).status).toBe(204);
    expect((await fetch(`${service.url}/mcp`, { method: 'DELETE', headers })).status).toBe(404);
    const list = { jsonrpc: '2.0', id: 2, method: 'tools/list' };
    expect((await post(service.url, list, headers)).status).toBe(404);
    const open = async () =>
      ((await (await fetch(`${service.url}/health`)).json()) as { sessions: number }).sessions;
    while ((await open()) > 0) await new Promise((next) => setTimeout(next, 20));
    expect((await begin()).status).toBe(200);
  });

  it('gives calls up when the client hangs up, and ends at once when it drains', async () => {
    let aborted = 0;
    const waiting: Tool = {
      ...broken,
      name: 'waiting',
      call: (_, { signal }) =>
        new Promise((_resolve, reject) => {
          signal?.addEventListener('abort', () => {
            aborted++;
            reject(signal.reason);
          });
        }),
    };
    const service = await overHttp({ tools: [waiting] });
    const id = (await post(service.url, initialize)).headers.get('mcp-session-id') ?? '';
    const stop = new AbortController();
    const asked = fetch(`${service.url}/mcp`, {
      method: 'POST',
      headers: {
        ...{ 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
        'mcp-session-id': id,
      },
      body: JSON.stringify({
        jsonrpc: '2.0',
        id: 2,
        method: 'tools/call',
        params: { name: 'waiting' },
      }),
      signal: stop.signal,
    });
    setTimeout(() => stop.abort(), 200);
    await expect(asked).rejects.toThrow();
    while (aborted === 0) await new Promise((next) => setTimeout(next, 10));
  });

  it('withstands malformed requests', async () => {
    const service = await overHttp({ bodies: { maxBytes: 300_000 } });
    const under = { url: service.url, paths: ['/mcp'], maxBytes: 300_000 };
    const report = await fuzzService(under, { requests: 80 });
    expect(report.problems).toEqual([]);
  });
});
