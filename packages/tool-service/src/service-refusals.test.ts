/** One clear answer for whatever a client sends wrongly, and no end of the service by it. */
import { drainUnderHalfSentBodies, fuzzService } from '@saccade/http/contract';
import { encode } from 'fast-png';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { get, image, loadModule, post, sentImage, startTools } from './service.fixture.ts';
import type { ToolService } from './service.ts';

const maxBytes = 4 * 2 ** 20;
const paths = ['/v1/tools/digest_tool', '/v1/batch', '/get_observation'];
const own = ['digest_tool', 'show_tool', 'device_tool'];

let service: ToolService;
beforeAll(async () => {
  service = await startTools({ own }, { maxBytes });
}, 120_000);
afterAll(() => service?.drain(1));

/** 100 megapixels of one color: a file of some hundred kilobytes. */
const large = encode({
  ...{ width: 10_000, height: 10_000, channels: 1, depth: 1 },
  data: new Uint8Array(1250 * 10_000),
});
const base64 = (bytes: Uint8Array) => Buffer.from(bytes).toString('base64');
const images = (png: string) => ({ arguments: {}, images: [{ name: 'image_0', png }] });

describe('a request', () => {
  it.each<[string, string, unknown, number, string]>([
    ['an unknown tool', '/v1/tools/no_such_tool', images(sentImage.png), 404, 'unknown-tool'],
    ['a name like a path', '/v1/tools/..%2f..%2fetc', {}, 404, 'unknown-tool'],
    ['a name of Object', '/v1/tools/__proto__', {}, 404, 'unknown-tool'],
    ['another version', paths[0], { arguments: {}, version: '9' }, 409, 'tool-version'],
    ['no arguments', paths[0], {}, 400, 'bad-request'],
    ['arguments that are a list', paths[0], { arguments: [] }, 400, 'bad-request'],
    ['an unknown field', paths[0], { arguments: {}, argments: {} }, 400, 'bad-request'],
    ['no JSON', paths[0], '{"arguments": {', 400, 'bad-request'],
    ['images that are text', paths[0], { arguments: {}, images: 'a' }, 400, 'bad-request'],
    ['an image without bytes', paths[0], images(''), 400, 'data'],
    ['an image that is none', paths[0], images('R0lGODlh'), 400, 'data'],
    ['an image that is no base64', paths[0], images('ÄÖÜ<>*'), 400, 'data'],
    ['half an image', paths[0], images(base64(image.png.slice(0, 2000))), 400, 'data'],
    ['100 megapixels', paths[0], images(base64(large)), 413, 'too-many-pixels'],
    ['a body of 5 MiB', paths[0], images('A'.repeat(5 * 2 ** 20)), 413, 'too-large'],
    ['no time', paths[0], { arguments: {}, deadlineMs: 0 }, 400, 'bad-request'],
    ['no end of time', paths[0], { arguments: {}, deadlineMs: 1e300 }, 400, 'bad-request'],
    ['an empty batch', '/v1/batch', { calls: [] }, 400, 'bad-request'],
    ['a batch of nothing', '/v1/batch', { calls: [{}] }, 400, 'bad-request'],
    ['lists of two lengths', paths[2], { trajectory_ids: ['a'], actions: [] }, 400, 'bad-request'],
    [
      'a third list of another length',
      '/get_observation',
      { trajectory_ids: ['a'], actions: ['b'], extra_fields: [{}, {}] },
      ...([400, 'bad-request'] as const),
    ],
    [
      'a flag that is no list',
      '/get_observation',
      { trajectory_ids: ['a'], actions: ['b'], finish: true },
      ...([400, 'bad-request'] as const),
    ],
    ['an unknown route', '/v2/tools', {}, 404, 'unknown-route'],
  ])('with %s is refused', async (_, path, body, status, code) => {
    const answer = await post(service, path, body);
    expect([answer.status, (answer.body.error as { code: string }).code]).toEqual([status, code]);
    const { fact, remedy } = answer.body.error as { fact: string; remedy: string };
    expect(fact.length * remedy.length).toBeGreaterThan(0);
    expect(answer.body.detail).toBe(`${fact} ${remedy}`);
  });

  it.each<[string, object, string]>([
    ['a wrong type', { image_index: 'first' }, 'BadArgument'],
    ['a number that is none', { image_index: 1.5 }, 'BadArgument'],
    ['an unknown argument', { index: 0 }, 'UnknownArgument'],
    ['an image that is not there', { image_index: 1 }, 'BadArgument'],
    ['another prototype', JSON.parse('{"__proto__": {"image_index": 1}}'), 'ok'],
  ])('whose arguments have %s has an outcome', async (_, given, type) => {
    const sent = JSON.stringify({ arguments: given, images: [sentImage] });
    const { status, body } = await post(service, '/v1/tools/digest_tool', sent);
    const { kind, error } = body.outcome as { kind: string; error?: { type: string } };
    expect(status).toBe(200);
    if (type === 'ok') expect(['ok', 'exception']).toContain(kind);
    else expect([kind, error?.type]).toEqual(['exception', type]);
  });
});

it('reads megabytes of a model’s text in one pass', async () => {
  for (const action of ['<tool_call>'.repeat(300_000), `<tool_call>${'{'.repeat(3_000_000)}`]) {
    const asked = post(service, '/get_observation', { trajectory_ids: ['a'], actions: [action] });
    expect((await get(service, '/health')).status).toBe(200);
    expect(await asked).toMatchObject({ status: 200, body: { valids: [false], dones: [false] } });
  }
});

it('needs the token where there is one, but for its health', async () => {
  const guarded = await startTools({ own }, { token: 'secret' });
  try {
    const ask = (path: string, headers = {}) => fetch(`${guarded.url}${path}`, { headers });
    expect((await ask('/v1/tools')).status).toBe(401);
    expect((await ask('/openapi.json')).status).toBe(401);
    expect((await ask('/v1/tools', { authorization: 'Bearer secret' })).status).toBe(200);
    expect(await (await ask('/health')).json()).toEqual({ status: 'healthy' });
    await expect(startTools({ own }, { host: '0.0.0.0' })).rejects.toMatchObject({
      code: 'config',
    });
  } finally {
    await guarded.drain(1);
  }
});

it('answers malformed requests with 2xx or 4xx, and health meanwhile', async () => {
  const { problems } = await fuzzService({ url: service.url, paths, maxBytes }, { requests: 200 });
  expect(problems).toEqual([]);
}, 180_000);

it('ends within its grace whatever connections hold', async () => {
  const opened = await startTools({ own, processes: [] }, { maxBytes });
  await drainUnderHalfSentBodies({ ...opened, paths, maxBytes });
}, 180_000);

it.each<[string, object, RegExp]>([
  ['an unknown field', { process: [] }, /process/],
  ['an unknown tool', { own: ['digest_tol'] }, /digest_tool/],
  ['one tool twice', { own: ['digest_tool', 'digest_tool'] }, /two of them are called digest_tool/],
  [
    'two processes of one name',
    { processes: [1, 2].map(() => ({ name: 'a', tools: ['digest_tool'] })) },
    /a stands twice/,
  ],
  ['a limit out of range', { own: ['digest_tool'], limits: { maxBatch: 0 } }, /limits\.maxBatch/],
])('is not opened with a placement that has %s', async (_, placement, message) => {
  await expect(startTools(placement, { modules: [loadModule] })).rejects.toThrow(message);
});
