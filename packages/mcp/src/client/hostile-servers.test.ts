/** Servers that die, hang, lie and flood: each call ends once, with one clear outcome. */
import { crc32, deflateSync } from 'node:zlib';
import { callTool, type OpenTools, ToolError } from '@saccade/tools';
import { afterEach, describe, expect, it } from 'vitest';
import { nothing, openHostile, openMcp } from '../open-mcp.fixture.ts';
import { hostileServer } from './hostile-server.fixture.ts';

const opened: OpenTools[] = [];
const open: typeof openHostile = async (...given) => {
  const made = await openHostile(...given);
  opened.push(made);
  return made;
};
afterEach(async () => {
  await Promise.all(opened.splice(0).map((one) => one.dispose()));
});

const call = (tools: OpenTools, name = 'go', given: object = {}) =>
  callTool(tools.tools, { name, arguments: given as Record<string, unknown> }, nothing);

/** A PNG of one color that is small as a file and 20,000 pixels wide and high. */
function pngBomb(): string {
  const side = 20_000;
  const chunk = (type: string, data: Buffer): Buffer => {
    const body = Buffer.concat([Buffer.from(type), data]);
    const size = Buffer.alloc(4);
    size.writeUInt32BE(data.length);
    const sum = Buffer.alloc(4);
    sum.writeUInt32BE(crc32(body));
    return Buffer.concat([size, body, sum]);
  };
  const header = Buffer.alloc(13);
  header.writeUInt32BE(side, 0);
  header.writeUInt32BE(side, 4);
  header.set([1, 0, 0, 0, 0], 8);
  const rows = deflateSync(Buffer.alloc(side * (side / 8 + 1)), { level: 9 });
  const signature = Buffer.from([137, 80, 78, 71, 13, 10, 26, 10]);
  const parts = [
    signature,
    chunk('IHDR', header),
    chunk('IDAT', rows),
    chunk('IEND', Buffer.alloc(0)),
  ];
  return Buffer.concat(parts).toString('base64');
}

describe('a server that cannot be used is told at the start:', () => {
  it.each([
    ['dies', /could not be reached: .*status 3\. It said: no license found/],
    ['endless', /lists its tools without an end/],
    ['growing', /lists its tools without an end/],
    ['no-list', /answered tools\/list with what is no result of it \(at "tools"\)/],
  ])('%s', async (mode, message) => {
    const failure = await open(mode).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(ToolError);
    expect((failure as Error).message).toMatch(message);
  });

  it('one that never answers', async () => {
    const failure = await open('silent', { startSeconds: 0.5 }).catch((error: unknown) => error);
    expect((failure as Error).message).toMatch(/could not be reached/);
  });

  it('one that is not there', async () => {
    const missing = await openMcp({ command: 'no-such-program' }).catch((error: unknown) => error);
    expect((missing as Error).message).toMatch(
      /MCP server no-such-program could not be reached.*status 127/s,
    );
    const nobody = openMcp({ url: 'http://127.0.0.1:9/mcp', startSeconds: 5 });
    await expect(nobody).rejects.toThrow(
      /MCP server http:\/\/127\.0\.0\.1:9\/mcp could not be reached/,
    );
  });
});

describe('settings that do not fit are told at the start:', () => {
  const server = hostileServer('images');
  it.each([
    [{}, /expected a program, or a server at tools\.mcp\.url, got neither/],
    [{ ...server, url: 'http://127.0.0.1:1' }, /Leave one of the two out/],
    [{ url: 'ftp://a.example' }, /expected an http or https URL/],
    [{ url: 'http://a.example', images: ['a.b=path'] }, /cannot read files/],
    [{ ...server, take: ['look', 'fly'] }, /no tool fly\. Known: look, open/],
    [{ ...server, take: ['opn'] }, /no tool opn\. Known: look, open.*Did you mean open\?/],
    [{ ...server, images: ['look.image'] }, /expected tool\.argument=form/],
    [{ ...server, images: ['look.photo=base64'] }, /no argument photo\. Known: image, note/],
    [{ ...server, images: ['fly.image=base64'] }, /no tool fly\. Known: look, open/],
  ])('%#', async (settings, message) => {
    await expect(openMcp(settings)).rejects.toThrow(message);
    await expect(openMcp(settings)).rejects.toMatchObject({ code: 'config' });
  });
});

it('lists all pages', async () => {
  const names = (await open('pages')).tools.map(({ name }) => name);
  expect(names).toEqual(['page_0', 'page_1', 'page_2', 'page_3', 'page_4']);
});

it('leaves out tools whose schema cannot be used, and says so', async () => {
  const tools = await open('schemas');
  expect(tools.tools.map(({ name }) => name)).toEqual(['good', 'old']);
  expect(tools.warnings().join('\n')).toMatch(/remote is left out.*\n.*broken is left out/);
  await expect(open('schemas', { take: ['broken'] })).rejects.toThrow(
    /schema of broken cannot be used/,
  );
  expect((await call(tools, 'old')).error?.type).toBe('MissingArgument');
});

describe('what a server answers', () => {
  it.each([
    [
      'is-error',
      { kind: 'exception', error: { type: 'ToolRefused', message: 'the disk is full' } },
    ],
    [
      'bad-params',
      { kind: 'exception', error: { type: 'BadArgument', message: 'a must be even' } },
    ],
    ['garbage', { kind: 'ok', stdout: '' }],
    [
      'no-image',
      {
        kind: 'ok',
        images: [],
        truncated: ['images'],
        stdout: '[An image is left out: it cannot be decoded.]\nhm',
      },
    ],
    ['svg', { kind: 'ok', images: [], stdout: '[An image is left out: it is svg.]' }],
  ])('as %s is an outcome', async (mode, outcome) => {
    expect(await call(await open(mode))).toMatchObject(outcome);
  });

  it('is bounded', async () => {
    const { stdout, truncated } = await call(await open('long-text'));
    expect([stdout.length, truncated]).toEqual([64 * 1024, ['stdout']]);
    expect(stdout.endsWith('😀')).toBe(true);
    const many = await call(await open('many-images'));
    expect([many.images.length, many.truncated]).toEqual([8, ['images']]);
  });

  it('never makes a decompression bomb go off', async () => {
    const before = process.memoryUsage().rss;
    const { command, args } = hostileServer('bomb');
    const bomb = pngBomb();
    expect(bomb.length).toBeLessThan(100_000);
    const shell = ['-c', `BOMB='${bomb}' exec "$@"`, 'sh', command, ...args];
    const tools = await openMcp({ command: 'sh', args: shell });
    opened.push(tools);
    const { images, stdout } = await call(tools);
    expect([images.length, stdout]).toEqual([
      0,
      '[An image is left out: it has 20000 x 20000 pixels, more than 16777216.]',
    ]);
    expect(process.memoryUsage().rss - before).toBeLessThan(300 * 2 ** 20);
  });

  it.each([
    ['no-result', /answered tools\/call with what is no result of it \(at "content"\)/],
    ['not-base64', /answered tools\/call with what is no result of it \(at "content\.0\.data"\)/],
    ['strange-block', /answered tools\/call with what is no result/],
    ['no-rpc', /no JSON-RPC/],
    ['bad-error', /no JSON-RPC/],
    ['fault', /broke: broken/],
  ])('as %s is a failure of the tool', async (mode, message) => {
    const failure = await call(await open(mode)).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(ToolError);
    expect((failure as Error).message).toMatch(message);
  });

  it.each(['deep', 'other-id', 'no-newline'])(
    'as %s is waited for no longer than allowed',
    async (mode) => {
      const tools = await open(mode, { timeoutSeconds: 1 });
      await expect(call(tools)).rejects.toThrow(/did not answer tools\/call within 1 s/);
    },
  );

  it('without an end makes it end', async () => {
    const tools = await open('endless-line');
    await expect(call(tools)).rejects.toThrow(
      /is gone\. It wrote a message of more than \d+ bytes/,
    );
  });

  it('of any kind ends every call once', async () => {
    const tools = await open('fuzz', { timeoutSeconds: 2 });
    const ends: string[] = [];
    for (let round = 0; round < 40; round++) {
      const end = await call(tools).catch((error: unknown) => error);
      ends.push(end instanceof ToolError ? 'failed' : (end as { kind: string }).kind);
    }
    expect(new Set(ends)).toEqual(new Set(['ok', 'exception', 'failed']));
  }, 120_000);
});

describe('a server', () => {
  it('that crashed is started again for the next call', async () => {
    const tools = await open('crashes');
    const first = JSON.parse((await call(tools)).stdout);
    const failure = await call(tools).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(ToolError);
    expect((failure as Error).message).toMatch(
      /is gone\. It ended with status 1\. It said: out of memory/,
    );
    const again = JSON.parse((await call(tools)).stdout);
    expect([again.calls, again.pid === first.pid]).toEqual([1, false]);
    expect(tools.warnings().at(-1)).toMatch(/is started again/);
  });

  it('that hangs is ended, and started again', async () => {
    const tools = await open('hangs', { timeoutSeconds: 0.5 });
    await expect(call(tools)).rejects.toThrow(/did not answer/);
    while (!tools.warnings().some((said) => said.includes('started again'))) {
      await call(tools).catch(() => {});
    }
  });

  it('that is slow once keeps running: others use it', async () => {
    const tools = await open('slow', { timeoutSeconds: 3 });
    await expect(call(tools)).rejects.toThrow(/did not answer/);
    expect(JSON.parse((await call(tools)).stdout).calls).toBe(2);
    expect(tools.warnings()).toEqual([]);
  });
});
