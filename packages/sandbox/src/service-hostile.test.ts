/** The service under hostile clients and hostile code: it answers, stays small, and ends. */
import { drainUnderHalfSentBodies, fuzzService } from '@saccade/http/contract';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { postTo, startService } from './service.fixture.ts';
import type { SandboxService } from './service.ts';

const paths = ['/run_code', '/run_jupyter', '/get_observation', '/v1/sessions'];

let service: SandboxService;
beforeAll(async () => {
  service = await startService({
    maxBytes: 4 * 2 ** 20,
    idleSeconds: 5,
    // Longer than a test has: what ends sooner ends by the limits of a request.
    sandbox: { limits: { wallSeconds: 600 } },
  });
}, 300_000);
afterAll(() => service?.drain());

const post = (path: string, body: unknown) => postTo(service, path, body);

describe('code that speaks for the service', () => {
  /** Replaces what the service's own lines use, then reports a text of this length. */
  const forge = (length: string, piece: string): string => `
import builtins, sys
class Text:
    def __len__(self): return ${length}
    def __getitem__(self, part): ${piece}
real = builtins.__import__
class Json:
    @staticmethod
    def dumps(value): return Text()
builtins.__import__ = lambda name, *rest: Json if name == 'json' else real(name, *rest)
`;

  it.each([
    ['a forged length', forge('1 << 60', 'return "x" * (part.stop - part.start)')],
    ['pieces of another length', forge('1 << 20', 'return "x"')],
    [
      'a length that is no number',
      forge('0', 'return ""').replace('return 0', 'return print("9" * 99) or 0'),
    ],
  ])('is not believed: %s', async (_, code) => {
    const before = process.memoryUsage().rss;
    const cells = [code, '1'];
    const { status, body } = await post('/run_jupyter', { cells, total_timeout: 5 });
    expect([status, (body as { status: string }).status]).toEqual([200, 'Success']);
    expect(process.memoryUsage().rss - before).toBeLessThan(100 * 2 ** 20);
  });

  it('cannot make a notebook last longer than its total time', async () => {
    const code = `
import builtins, time
real = builtins.__import__
def slow(name, *rest):
    if name in ('json', 'sys'): time.sleep(600)
    return real(name, *rest)
builtins.__import__ = slow
`;
    const { body } = await post('/run_jupyter', { cells: [code, '1', '2'], total_timeout: 2 });
    expect(body).toMatchObject({ status: 'Failed', driver: { status: 'TimeLimitExceeded' } });
  });
});

it.each([
  ['<python>'.repeat(500_000)],
  ['```python'.repeat(400_000)],
  ['```\npython'.repeat(300_000)],
  [`<python>1</python>${'<python>'.repeat(400_000)}`],
  ['```'.repeat(1_000_000)],
])('reads megabytes of a model’s text at once (%#)', async (action) => {
  const before = process.cpuUsage();
  const asked = post('/get_observation', { trajectory_ids: ['x'], actions: [action] });
  await new Promise((next) => setTimeout(next, 50));
  const health = await fetch(`${service.url}/health`);
  expect(health.status).toBe(200);
  expect(process.cpuUsage(before).user).toBeLessThan(4_000_000);
  expect((await asked).status).toBe(200);
});

it('finds the code that verl-tool finds', async () => {
  const see = async (action: string) => {
    const { body } = await post('/get_observation', { trajectory_ids: ['c'], actions: [action] });
    return (body as { observations: string[] }).observations[0];
  };
  expect(await see('<python>print(1)</python> and <python>print(2)</python>')).toContain('1\n2');
  expect(await see('```python\nprint(3)\n``` and ```\npython\nprint(4)\n```')).toContain('3\n4');
  expect(await see('<python>print(5)')).toBe('');
  expect(await see('<python>print(6)</python>```python\nprint(7)```')).not.toContain('7');
});

it('refuses what the client sent wrongly with 4xx', async () => {
  const code = 'print(len(input()))';
  const stdin = 'x'.repeat(2_000_000);
  expect(await post('/run_code', { code, language: 'python', stdin })).toMatchObject({
    status: 413,
    body: { error: { code: 'too-large', remedy: 'Send it as a file.' } },
  });
  const fetch_files = Array.from({ length: 100 }, () => 'a');
  const many = await post('/run_code', { code, language: 'python', fetch_files });
  expect(many.status).toBe(400);
  const half = await post('/run_code', { code, language: 'python', stdin: 'y'.repeat(500_000) });
  expect(half).toMatchObject({ body: { run_result: { stdout: '500000\n' } } });
});

it('is closed to names that are not its own', async () => {
  const { host } = new URL(service.url);
  const { request } = await import('node:http');
  const status = (name: string, path: string) =>
    new Promise((resolve) => {
      const asking = request(`http://${host}${path}`, { headers: { host: name } }, (answer) => {
        answer.resume();
        resolve(answer.statusCode);
      });
      asking.end();
    });
  for (const path of ['/health', '/metrics']) {
    expect(await status('rebound.example', path)).toBe(403);
    expect(await status('localhost', path)).toBe(200);
  }
});

it('answers malformed requests with 2xx or 4xx, and health meanwhile', async () => {
  const before = process.memoryUsage().rss;
  const under = { url: service.url, paths, maxBytes: 4 * 2 ** 20 };
  const { problems } = await fuzzService(under, { requests: 200 });
  expect(problems).toEqual([]);
  expect(process.memoryUsage().rss - before).toBeLessThan(300 * 2 ** 20);
}, 180_000);

it('ends within its grace whatever connections hold', async () => {
  const own = await startService();
  const under = { ...own, paths, maxBytes: 4 * 2 ** 20 };
  await drainUnderHalfSentBodies(under);
}, 180_000);
