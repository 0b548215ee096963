/** The unit against a published MCP server, over both transports. */
import { type ChildProcess, spawn } from 'node:child_process';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { callTool, type OpenTools } from '@saccade/tools';
import { toolContract } from '@saccade/tools/contract';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { everything, nothing, type OpenMcp, openMcp } from '../open-mcp.fixture.ts';

const call = (open: OpenTools, name: string, given: object) =>
  callTool(open.tools, { name, arguments: given as Record<string, unknown> }, nothing);

function suite(make: () => OpenMcp): void {
  it('has its tools, under names that a model may write', () => {
    const names = make().tools.map(({ name }) => name);
    expect(names).toContain('echo');
    expect(names).toContain('get_sum');
    expect(names.filter((name) => !/^[a-z][a-z0-9_]*$/.test(name))).toEqual([]);
    expect(make().warnings()).toContain('tools.mcp: get-sum is called get_sum here.');
  });

  it('gives text, structured results and images', async () => {
    expect(await call(make(), 'get_sum', { a: 2, b: 40 })).toMatchObject({
      kind: 'ok',
      stdout: 'The sum of 2 and 40 is 42.',
      images: [],
    });
    const weather = await call(make(), 'get_structured_content', { location: 'Chicago' });
    expect(JSON.parse(weather.stdout)).toHaveProperty('temperature');
    const logo = await call(make(), 'get_tiny_image', {});
    expect(logo.images).toMatchObject([{ width: 20, height: 20, source: 'image' }]);
    expect(
      Buffer.from(logo.images[0]?.png ?? [])
        .subarray(1, 4)
        .toString(),
    ).toBe('PNG');
  });

  it.each([
    ['get_some', {}, 'UnknownTool', /no such tool.*get_sum/],
    ['get_sum', { a: 1 }, 'MissingArgument', /argument b is missing/],
    ['get_sum', { a: 1, b: 2, c: 3 }, 'UnknownArgument', /no argument c/],
    ['get_sum', { a: 1, b: 'two' }, 'BadArgument', /argument b does not fit: it must be number/],
    ['get_structured_content', { location: 'Rome' }, 'BadArgument', /New York, Chicago/],
    ['echo', { message: null }, 'BadArgument', /argument message/],
    ['echo', JSON.parse('{"message":"a","__proto__":{"x":1}}'), 'UnknownArgument', /__proto__/],
  ])('refuses %s %j as %s', async (name, given, type, message) => {
    const { kind, error } = await call(make(), name, given);
    expect([kind, error?.type]).toEqual(['exception', type]);
    expect(error?.message).toMatch(message);
  });

  it.each(toolContract.map(({ name, check }) => [name, check] as const))(
    'echo %s',
    async (_, check) => {
      const echo = make().tools.find(({ name }) => name === 'echo');
      if (echo === undefined) throw new Error('no echo');
      // The last check is of tools that open the sandbox; this one does not.
      const failure = await check(echo, nothing).catch((error: Error) => error.message);
      if (failure !== undefined) expect(failure).toMatch(/failure of the sandbox/);
    },
  );
}

describe('over stdio', () => {
  let open: OpenMcp;
  beforeAll(async () => {
    process.env.SACCADE_MCP_TEST_SECRET = 'hidden';
    open = await openMcp({
      command: process.execPath,
      args: [everything, 'stdio'],
      environment: ['GIVEN'],
    });
  });
  afterAll(async () => {
    delete process.env.SACCADE_MCP_TEST_SECRET;
    await open.dispose();
  });
  suite(() => open);

  it('passes the variables it is told, and never all', async () => {
    const { stdout } = await call(open, 'get_env', {});
    const seen = JSON.parse(stdout) as Record<string, string>;
    expect(seen.GIVEN).toBe('secret of GIVEN');
    expect(seen).not.toHaveProperty('SACCADE_MCP_TEST_SECRET');
  });

  it('answers many calls at once', async () => {
    const sums = Array.from({ length: 50 }, (_, i) => call(open, 'get_sum', { a: i, b: i }));
    const said = (await Promise.all(sums)).map(({ stdout }) => stdout);
    expect(said).toEqual(said.map((_, i) => `The sum of ${i} and ${i} is ${2 * i}.`));
  });

  it('gives a call up when its rollout is stopped', async () => {
    const stop = new AbortController();
    const context = { ...nothing, signal: stop.signal };
    const name = 'trigger_long_running_operation';
    const going = callTool(open.tools, { name, arguments: { duration: 60, steps: 60 } }, context);
    setTimeout(() => stop.abort(new Error('stopped')), 50);
    await expect(going).rejects.toThrow('stopped');
    expect((await call(open, 'echo', { message: 'still here' })).stdout).toBe('Echo: still here');
  });
});

describe('over streamable HTTP', () => {
  let open: OpenMcp;
  let server: ChildProcess;
  beforeAll(async () => {
    const port = await freePort();
    server = spawn(process.execPath, [everything, 'streamableHttp'], {
      env: { PATH: process.env.PATH, PORT: String(port) },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    await new Promise<void>((resolve) => {
      server.stderr?.on('data', (said) => String(said).includes('listening') && resolve());
    });
    open = await openMcp({ url: `http://127.0.0.1:${port}/mcp` });
  });
  afterAll(async () => {
    await open.dispose();
    server.kill('SIGKILL');
  });
  suite(() => open);

  it('says that the server is gone', async () => {
    const ended = new Promise((resolve) => server.once('exit', resolve));
    server.kill('SIGKILL');
    await ended;
    const failure = await call(open, 'echo', { message: 'a' }).catch((error: unknown) => error);
    expect(failure).toMatchObject({ code: 'tool' });
  });
});

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => probe.once('listening', resolve));
  const { port } = probe.address() as AddressInfo;
  await new Promise((resolve) => probe.close(resolve));
  return port;
}
