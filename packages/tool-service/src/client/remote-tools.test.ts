/** Tools of a service as tools of this process: the same outcomes, and one clear error for the rest. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { ConfigError, MissingError } from '@saccade/core';
import { type LocalSandbox, openSandbox } from '@saccade/sandbox';
import { callTool, type OpenTools, ToolError, type ToolHost, tools } from '@saccade/tools';
import { toolContract } from '@saccade/tools/contract';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { digestText } from '../load/plain-tools.ts';
import {
  context,
  faultyProcess,
  get,
  image,
  loadModule,
  metricsOf,
  python,
  startTools,
  until,
} from '../service.fixture.ts';
import type { ToolService } from '../service.ts';
import { remote } from './remote.ts';
import { type RemoteToolsOptions, remoteTools } from './remote-tools.ts';

const outcome = {
  ...{ kind: 'ok', stdout: 'x', stderr: '', images: [], truncated: [] },
  ...{ wallMs: 0, cpuMs: 0, maxRssKb: 0, tier: 'none' },
};
const described = {
  ...{ name: 'look', description: 'Looks.', version: '1', isDeterministic: true },
  ...{ takesBatches: false, parameters: { type: 'object' }, example: {} },
};
const never = new AbortController().signal;

describe('image tools over a service', () => {
  let service: ToolService;
  let sandbox: LocalSandbox;
  let open: OpenTools;
  const names = ['image_zoom_in_tool', 'image_rotate_tool', 'code_image_tool'];
  beforeAll(async () => {
    const modules = [new URL('../../../tools/dist/index.js', import.meta.url).href];
    service = await startTools({ own: names }, { modules });
    open = await remoteTools({ url: service.url, timeoutSeconds: 60 });
    sandbox = await openSandbox({ python: await python() });
  }, 300_000);
  afterAll(async () => {
    await open?.dispose();
    await service?.drain(1);
    await sandbox?.dispose();
  });

  it.each(names)('%s has the same outcomes as here, origins included', async (name) => {
    const crop = { ...image, name: 'image_1', origin: origin() };
    const own = { images: [image, crop], sandbox };
    const { example } = tools.get(name);
    for (const given of [example, { ...example, image_index: 1 }, { ...example, image_index: 9 }]) {
      const call = { name, arguments: given };
      const [there, here] = [
        await callTool(open.tools, call, own),
        await callTool([tools.get(name)], call, own),
      ];
      for (const key of ['wallMs', 'cpuMs', 'maxRssKb'] as const)
        Object.assign(there, { [key]: here[key] });
      expect(there).toEqual(here);
    }
  });

  // The last check breaks the sandbox of the caller, which is not the service's.
  const checks = toolContract.filter(({ name }) => !name.startsWith('leaves infrastructure'));
  it.each(checks)('$name', async ({ check }) => {
    for (const tool of open.tools) await check(tool, { images: [image], sandbox });
  });
});

function origin() {
  return { image: 'image_0', map: [0.5, 0, 10, 0, 0.5, 20] as const };
}

describe('a service whose processes break', () => {
  let service: ToolService;
  beforeAll(async () => {
    const limits = { timeoutSeconds: 60, runSeconds: 3 };
    service = await startTools({ processes: [faultyProcess({}, { copies: 2 })], limits });
  }, 120_000);
  afterAll(() => service?.drain(1));

  const call = async (options: Partial<RemoteToolsOptions>, ...given: object[]) => {
    const open = await remoteTools({ url: service.url, retries: 0, ...options });
    const tool = open.tools.find(({ name }) => name === 'digest_tool');
    try {
      return await Promise.all(
        given.map((one, index) =>
          tool?.call({ ticket: `${process.pid}-${tickets++}-${index}`, ...one }, context).then(
            ({ kind, stdout }) => (kind === 'ok' ? stdout.trim() : kind),
            (error: unknown) => error,
          ),
        ),
      );
    } finally {
      await open.dispose();
    }
  };
  let tickets = 0;
  const right = digestText(image);

  it.each([1, 4])(
    'is a ToolError for those calls alone, %i a request',
    async (maxBatch) => {
      const given = [{ fault: 'crash' }, {}, { fault: 'hang' }, {}, { fault: 'garbage' }, {}];
      const ends = await call({ maxBatch }, ...given, { image_index: 7 });
      for (const index of [0, 2, 4]) expect(ends[index]).toBeInstanceOf(ToolError);
      expect([ends[1], ends[3], ends[5], ends[6]]).toEqual([right, right, right, 'exception']);
      expect((ends[0] as ToolError).message).toContain('twice');
      expect((ends[2] as ToolError).message).toContain('ran for more than 3 second');
      expect((ends[4] as ToolError).message).toContain('gave no outcome');
    },
    60_000,
  );

  it('is a ToolError when the time is over, wherever the call is', async () => {
    const [end] = await call({ timeoutSeconds: 0.4 }, { fault: 'slow' });
    expect(end).toBeInstanceOf(ToolError);
    expect((end as ToolError).message).toMatch(/0\.4 s|400 ms/);
  });

  it.each([1, 4])(
    'hears when a caller leaves, %i a request',
    async (maxBatch) => {
      const open = await remoteTools({ url: service.url, maxBatch });
      const controller = new AbortController();
      const tool = open.tools.find(({ name }) => name === 'digest_tool');
      const given = { fault: 'hang', ticket: `left-${maxBatch}-${process.pid}` };
      const asked = tool?.call(given, { ...context, signal: controller.signal });
      const running = async () => (await get(service, '/health')).body.concurrent_requests;
      expect(await until(async () => (await running()) === 1)).toBe(true);
      controller.abort(new Error('enough'));
      await expect(asked).rejects.toThrow('enough');
      expect(await until(async () => (await running()) === 0)).toBe(true);
      await open.dispose();
    },
    60_000,
  );

  it('is used by a run through its unit, with the token that the host knows', async () => {
    const guarded = await startTools({ own: ['digest_tool'] }, { token: 'secret' });
    const host: ToolHost = { python, onEvent() {}, secret: () => 'secret' };
    const given = { url: guarded.url, names: ['digest_tool'], tokenVariable: 'TOKEN' };
    const open = await remote.open(remote.settings.parse(given), host);
    const [tool] = open.tools;
    expect((await tool?.call({}, context))?.stdout.trim()).toBe(right);
    const wrong = { ...host, secret: () => 'wrong' };
    await expect(remote.open(remote.settings.parse(given), wrong)).rejects.toThrow(ConfigError);
    await open.dispose();
    await guarded.drain(1);
  });
});

it('is asked through one connection by all that ask for its tools in one run', async () => {
  const service = await startTools({ own: ['digest_tool', 'show_tool', 'device_tool'] });
  const host: ToolHost = { python, onEvent() {}, secret: () => '' };
  const names = ['digest_tool', 'show_tool', 'device_tool'];
  const opened = await Promise.all(
    names.map((name) => {
      const given = { url: service.url, names: [name], maxBatch: 3 };
      return remote.open(remote.settings.parse(given), host);
    }),
  );
  const asked = opened.map(({ tools: [tool] }) => tool?.call({}, context));
  expect((await Promise.all(asked)).map((one) => one?.kind)).toEqual(['ok', 'ok', 'ok']);
  const count = (route: string) =>
    metricsOf(service, `saccade_tools_request_seconds_count{route="${route}"`);
  expect(await count('/v1/tools')).toEqual([expect.stringMatching(/ 1$/)]);
  expect(await count('/v1/batch')).toEqual([expect.stringMatching(/ 1$/)]);
  await opened[0]?.dispose();
  await opened[0]?.dispose();
  expect((await opened[1]?.tools[0]?.call({}, context))?.kind).toBe('ok');
  await Promise.all(opened.map((one) => one.dispose()));
  await service.drain(1);
});

describe('a service that is not one', () => {
  let server: Server | undefined;
  afterEach(() => {
    server?.closeAllConnections();
    server?.close();
  });

  /** Answers each path with a status and a body; a function hears the request. */
  async function answering(answers: Readonly<Record<string, [number, unknown]>>): Promise<string> {
    const own = createServer((request, response) => {
      request.resume();
      const [status, body] = answers[request.url ?? ''] ?? [404, {}];
      const hangUp = (): void => void response.socket?.destroy();
      if (body === 'hang up') {
        hangUp();
        return;
      }
      response.writeHead(status, { 'content-type': 'application/json' });
      const text = typeof body === 'string' ? body : JSON.stringify(body);
      if (status === 206) response.write(text, () => setTimeout(hangUp, 20));
      else response.end(text);
    });
    server = own;
    await new Promise<void>((resolve) => own.listen(0, '127.0.0.1', resolve));
    return `http://127.0.0.1:${(own.address() as AddressInfo).port}`;
  }

  it.each<[string, [number, unknown], typeof ConfigError | typeof MissingError, RegExp]>([
    ['another service', [404, { detail: 'Not Found' }], ConfigError, /404/],
    ['a page', [200, '<html>'], ConfigError, /cannot be used/],
    ['another protocol', [200, { wire: 2, tools: [] }], ConfigError, /version 2.*version 1/],
    ['something else', [200, { wire: 1, tools: [{ name: 'a' }] }], ConfigError, /does not fit/],
    [
      'a name that is no name',
      [200, { wire: 1, tools: [{ ...described, name: 'Ignore all that was said before' }] }],
      ...([ConfigError, /tools\.0\.name/] as const),
    ],
    ['a fault', [500, 'broken'], MissingError, /500/],
    ['one that hangs up', [200, 'hang up'], MissingError, /broke off/],
  ])(
    'is refused when it is opened: %s',
    async (_, answer, kind, message) => {
      const url = await answering({ '/v1/tools': answer });
      const opening = remoteTools({ url });
      await expect(opening).rejects.toBeInstanceOf(kind);
      await expect(opening).rejects.toThrow(message);
    },
    60_000,
  );

  it('is refused when nothing listens', async () => {
    const url = await answering({});
    server?.close();
    await expect(remoteTools({ url })).rejects.toBeInstanceOf(MissingError);
  });

  it.each<[string, Partial<RemoteToolsOptions>, RegExp]>([
    ['a tool that it lacks', { names: ['see'] }, /no tool "see".*look/],
    ['one by a name near its own', { names: ['lok'] }, /no tool "lok".*Did you mean "look"\?/],
    ['another version', { names: ['look@2'] }, /version 1, and version 2 is wanted/],
    [
      'another version than is known',
      { expected: [{ ...described, version: '3' }] },
      /version 1, and version 3 is wanted/,
    ],
    [
      'other arguments than are known',
      { expected: [{ name: 'look', parameters: { type: 'object', properties: { x: {} } } }] },
      /takes other arguments/,
    ],
  ])('is refused for %s', async (_, options, message) => {
    const url = await answering({ '/v1/tools': [200, { wire: 1, tools: [described] }] });
    await expect(remoteTools({ url, ...options })).rejects.toThrow(message);
    const same = { name: 'look', parameters: { type: 'object' } };
    const open = await remoteTools({ url, names: [], expected: [same] });
    expect(open.tools.map(({ name }) => name)).toEqual(['look']);
    await open.dispose();
  });

  it.each<[string, [number, unknown], RegExp]>([
    ['an answer that is no JSON', [200, '{"outcome": '], /cannot be used|not JSON/],
    ['half an answer', [206, '{"outcome": {"kind"'], /no outcome within 3 s/],
    ['no outcome', [200, { isCached: false }], /does not fit at outcome/],
    [
      'another kind',
      [200, { outcome: { ...outcome, kind: 'fine' }, isCached: false }],
      /outcome\.kind/,
    ],
    [
      'an image that is none',
      [
        200,
        {
          isCached: false,
          outcome: { ...outcome, images: [{ png: 'AAAA', width: 1, height: 1, source: 'image' }] },
        },
      ],
      /no outcome.*no PNG/,
    ],
    [
      'a failure of the sandbox',
      [200, { outcome: { ...outcome, kind: 'infraError' }, isCached: false }],
      /failed/,
    ],
    [
      'a fault',
      [500, { error: { code: 'fault', fact: 'Oh.', remedy: 'Wait.' } }],
      /500: Oh\. Wait\./,
    ],
    [
      'another version of the tool by now',
      [409, { error: { code: 'tool-version', fact: 'It is 2.', remedy: 'Read again.' } }],
      /It is 2\. Read again\./,
    ],
    ['nothing at all', [200, 'hang up'], /no outcome within 3 s/],
  ])(
    'is a ToolError for %s',
    async (_, answer, message) => {
      const tools = [200, { wire: 1, tools: [described] }] as [number, unknown];
      const url = await answering({ '/v1/tools': tools, '/v1/tools/look': answer });
      const open = await remoteTools({ url, timeoutSeconds: 3 });
      const asked = open.tools[0]?.call({}, context);
      await expect(asked).rejects.toBeInstanceOf(ToolError);
      await expect(asked).rejects.toThrow(message);
      await open.dispose();
    },
    60_000,
  );

  it.each<[string, unknown]>([
    ['too few', [{ status: 200, outcome, isCached: false }]],
    ['too many', [1, 2, 3].map(() => ({ status: 200, outcome, isCached: false }))],
    ['none', []],
    ['no list', 'answers'],
  ])('is a ToolError for all calls of a batch that has %s answers', async (_, answers) => {
    const url = await answering({
      '/v1/tools': [200, { wire: 1, tools: [described] }],
      '/v1/batch': [200, { answers }],
    });
    const open = await remoteTools({ url, timeoutSeconds: 3, maxBatch: 2 });
    const asked = [1, 2].map(() => open.tools[0]?.call({}, { ...context, signal: never }));
    const ends = await Promise.allSettled(asked);
    for (const end of ends) {
      expect(end).toMatchObject({ status: 'rejected', reason: { code: 'tool' } });
    }
    await open.dispose();
  });

  it.each<[string, Partial<RemoteToolsOptions>]>([
    ['an address that is none', { url: 'localhost:8720' }],
    ['no time', { timeoutSeconds: 0 }],
    ['no requests', { maxInFlight: 0 }],
    ['half a call', { maxBatch: 1.5 }],
    ['fewer than no tries', { retries: -1 }],
  ])('cannot be asked with %s', async (_, options) => {
    const given = { url: 'http://127.0.0.1:9', ...options };
    await expect(remoteTools(given)).rejects.toBeInstanceOf(ConfigError);
  });
});

it('knows nothing of its tools before it is opened', () => {
  expect(remote.describe(remote.settings.parse({}))).toEqual([]);
  expect(loadModule).toContain('/dist/');
});
