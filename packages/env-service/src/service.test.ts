/** The service by OpenEnv's protocol, on the real sandbox, over HTTP and over web sockets. */
import { needle } from '@saccade/gym';
import { drainUnderHalfSentBodies, fuzzService } from '@saccade/http/contract';
import type { Service } from '@saccade/http/service';
import { presets, termsOf } from '@saccade/rewards';
import { type LocalSandbox, SandboxError } from '@saccade/sandbox';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { answerOf, look, openTestSandbox, serveNeedles } from './environments.fixture.ts';
import { scoreWith } from './score-with.ts';
import type { EnvServiceOptions } from './service.ts';
import { observationSchema, type WireAnswer } from './wire.ts';

let sandbox: LocalSandbox;
beforeAll(async () => {
  sandbox = await openTestSandbox();
}, 300_000);
afterAll(async () => {
  const { open } = sandbox.stats();
  await sandbox.dispose();
  expect(open).toBe(0);
});

const opened: Service[] = [];
const open = async (options: Partial<EnvServiceOptions> = {}): Promise<Service> => {
  const service = await serveNeedles(sandbox, options);
  opened.push(service);
  return service;
};
afterEach(async () => {
  await Promise.all(opened.splice(0).map((service) => service.drain(1)));
});

const post = (
  { url }: Service,
  path: string,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): Promise<Response> =>
  fetch(url + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });

async function ask(service: Service, path: string, body: unknown): Promise<WireAnswer> {
  const response = await post(service, path, body);
  if (!response.ok) throw new Error(`${response.status} ${await response.text()}`);
  return (await response.json()) as WireAnswer;
}

describe('an episode over HTTP', () => {
  it('shows the task, runs code, and pays at the end as the run does', async () => {
    const service = await open();
    const first = await ask(service, '/reset', { seed: 3, episode_id: 'mine' });
    expect(() => observationSchema.parse(first.observation)).not.toThrow();
    expect(first).toMatchObject({ reward: null, done: false });
    const { session_id, messages, stop, task_id, episode_id } = first.observation;
    const task = await needle.task('train', 3);
    expect([task_id, episode_id]).toEqual([task.id, 'mine']);
    expect(stop.length).toBeGreaterThan(0);
    const parts = messages.flatMap(({ content }) => content);
    const image = parts.find((part) => part.type === 'image');
    expect(Buffer.from(image?.data ?? '', 'base64')).toEqual(
      Buffer.from(task.images[0]?.png ?? []),
    );
    const looked = await ask(service, '/step', { session_id, action: { text: look } });
    expect(looked).toMatchObject({
      ...{ reward: null, done: false },
      observation: { result: { kind: 'ok', stdout: 'seen\n', image_count: 1 }, stop_reason: null },
    });
    const shown = looked.observation.messages[0]?.content.find((part) => part.type === 'image');
    expect(shown).toMatchObject({ width: 56, height: 56, origin: { image: 'image_clue_0' } });
    const right = await ask(service, '/step', {
      session_id,
      action: { text: answerOf(task.answer) },
    });
    expect(right).toMatchObject({
      done: true,
      observation: { stop_reason: 'answered', is_correct: true, messages: [], stop: [] },
    });
    const terms = Object.values(right.observation.reward_terms ?? {});
    expect(right.reward).toBeCloseTo(terms.reduce((sum, value) => sum + value, 0));
    expect(right.reward).toBeGreaterThan(0);
    const wrong = await ask(service, '/reset', { session_id, seed: 3 });
    expect(wrong.observation.task_id).toBe(task.id);
    const missed = await ask(service, '/step', { session_id, action: { text: answerOf('none') } });
    expect([missed.done, missed.observation.is_correct]).toEqual([true, false]);
    expect(missed.reward).toBeLessThan(right.reward ?? 0);
    expect((await post(service, '/close', { session_id })).status).toBe(200);
  });

  it('gives the same tasks for the same seed, and others after it', async () => {
    const service = await open();
    const tasksOf = async (): Promise<readonly string[]> => {
      const { observation } = await ask(service, '/reset', { seed: 9 });
      const { session_id } = observation;
      const ids = [observation.task_id];
      for (let i = 0; i < 3; i++) {
        ids.push((await ask(service, '/reset', { session_id })).observation.task_id);
      }
      return ids;
    };
    const ids = await tasksOf();
    expect(new Set(ids).size).toBe(4);
    expect(await tasksOf()).toEqual(ids);
    const heldOut = await ask(service, '/reset', { seed: 9, split: 'heldOut' });
    expect(heldOut.observation.task_id).not.toBe(ids[0]);
  });

  it('begins without a body too', async () => {
    const { url } = await open();
    expect((await fetch(`${url}/reset`, { method: 'POST' })).status).toBe(200);
  });

  it('says where it stands', async () => {
    const service = await open();
    const { observation } = await ask(service, '/reset', { seed: 1 });
    const headers = { 'x-session-id': observation.session_id };
    await ask(service, '/step', { session_id: observation.session_id, action: { text: look } });
    const state = await (await fetch(`${service.url}/state`, { headers })).json();
    expect(state).toEqual({
      ...{ episode_id: observation.episode_id, task_id: observation.task_id },
      ...{ step_count: 1, done: false },
    });
  });

  it('runs a step once, however often it is sent with one key', async () => {
    const service = await open();
    const { observation } = await ask(service, '/reset', { seed: 1 });
    const body = { session_id: observation.session_id, action: { text: look } };
    const key = { 'idempotency-key': 'step-1' };
    const both = await Promise.all([
      post(service, '/step', body, key),
      post(service, '/step', body, key),
    ]);
    const [one, two] = await Promise.all(both.map((answer) => answer.json()));
    expect(one).toEqual(two);
    const headers = { 'x-session-id': observation.session_id };
    expect(await (await fetch(`${service.url}/state`, { headers })).json()).toMatchObject({
      step_count: 1,
    });
  });

  it('refuses a second step meanwhile, and steps after the end', async () => {
    const service = await open();
    const { session_id } = (await ask(service, '/reset', { seed: 1 })).observation;
    const slow = '<code>\n```python\nimport time\ntime.sleep(1)\nprint(1)\n```\n</code>';
    const step = (text: string) => post(service, '/step', { session_id, action: { text } });
    const [one, two] = await Promise.all([step(slow), step(slow)]);
    expect([one.status, two.status].sort()).toEqual([200, 409]);
    expect((await step(answerOf('1'))).status).toBe(200);
    const late = await step(answerOf('1'));
    expect([late.status, await late.json()]).toMatchObject([409, { error: { code: 'episode' } }]);
  });

  it('gives a step up at its time limit: no reward, until it is reset', async () => {
    const service = await open();
    const { session_id } = (await ask(service, '/reset', { seed: 1 })).observation;
    const text = '<code>\n```python\nwhile True: pass\n```\n</code>';
    const late = await post(service, '/step', { session_id, action: { text }, timeout_s: 0.5 });
    expect(late.status).toBe(504);
    expect((await post(service, '/step', { session_id, action: { text: look } })).status).toBe(409);
    await ask(service, '/reset', { session_id, seed: 1 });
    expect((await ask(service, '/step', { session_id, action: { text: look } })).done).toBe(false);
  });

  it('makes a broken sandbox a failure, never a reward', async () => {
    const broken = {
      reset: async () => ({ user: [{ kind: 'text' as const, text: 'q' }], stop: [] }),
      step: async () => {
        throw new SandboxError('the fork server died');
      },
      dispose: async () => {},
    };
    const service = await open({ makeEnv: () => broken });
    const { session_id } = (await ask(service, '/reset', {})).observation;
    const answer = await post(service, '/step', { session_id, action: { text: 'a' } });
    expect([answer.status, await answer.json()]).toMatchObject([
      500,
      { error: { code: 'sandbox' } },
    ]);
    expect((await post(service, '/step', { session_id, action: { text: 'a' } })).status).toBe(409);
  });
});

describe('bad input', () => {
  it.each([
    ['/reset', '{', 400, 'bad-request'],
    ['/reset', { seed: -1 }, 400, 'bad-request'],
    ['/reset', { seed: 1.5 }, 400, 'bad-request'],
    ['/reset', { seed: 'one' }, 400, 'bad-request'],
    ['/reset', { split: 'test' }, 400, 'bad-request'],
    ['/reset', { episode_id: 'x'.repeat(300) }, 400, 'bad-request'],
    ['/reset', { session_id: 'guess' }, 404, 'unknown-session'],
    ['/step', { action: { text: 'a' } }, 400, 'no-session'],
    ['/step', { session_id: 'guess', action: { text: 'a' } }, 404, 'unknown-session'],
    ['/step', { session_id: 'guess' }, 422, 'action'],
    ['/step', { session_id: 'guess', action: 'text' }, 422, 'action'],
    ['/step', { session_id: 'guess', action: {} }, 422, 'action'],
    ['/step', { session_id: 'guess', action: { text: 1 } }, 422, 'action'],
    ['/step', { session_id: 'guess', action: { text: 'a', tool: 'b' } }, 422, 'action'],
    ['/step', { session_id: 'guess', action: { text: 'a', token_count: 0 } }, 422, 'action'],
    ['/step', { session_id: 'guess', action: { text: 'a' }, timeout_s: -1 }, 400, 'bad-request'],
    ['/close', { session_id: 'guess' }, 404, 'unknown-session'],
    ['/close', {}, 400, 'no-session'],
    ['/nothing', {}, 404, 'unknown-route'],
  ])('POST %s %j is refused with %i %s', async (path, body, status, code) => {
    const answer = await post(await open(), path, body);
    expect([answer.status, await answer.json()]).toMatchObject([
      status,
      { error: { code }, detail: expect.any(String) },
    ]);
  });

  it('in the ids of others is refused: nobody guesses one', async () => {
    const service = await open();
    const [one, two] = await Promise.all([ask(service, '/reset', {}), ask(service, '/reset', {})]);
    expect(one?.observation.session_id).toMatch(/^[\w-]{43}$/);
    expect(one?.observation.session_id).not.toBe(two?.observation.session_id);
    expect((await fetch(`${service.url}/state`)).status).toBe(400);
  });

  it('to a reward that counts tokens or groups is told', async () => {
    const scoring = (name: string) => ({
      verifier: { name: 'never', verify: () => 0 },
      terms: termsOf(presets.get(name)),
    });
    expect(scoreWith({ scoring: scoring('dapo') }).countsTokens).toBe(true);
    expect(() => scoreWith({ scoring: scoring('codevision') })).toThrow(
      /compares the trajectories/,
    );
    const service = await open(scoreWith({ scoring: scoring('dapo') }));
    const { session_id } = (await ask(service, '/reset', {})).observation;
    const text = answerOf('1');
    expect((await post(service, '/step', { session_id, action: { text } })).status).toBe(422);
    const paid = await ask(service, '/step', { session_id, action: { text, token_count: 9 } });
    expect(paid.observation.reward_terms).toHaveProperty('overlong', 0);
  });
});

describe('sessions', () => {
  const count = async (service: Service): Promise<number> => {
    const metrics = await (await fetch(`${service.url}/metrics`)).text();
    return Number(/saccade_env_sessions (\d+)/.exec(metrics)?.[1]);
  };

  it('are limited, and end when they are closed or unused', async () => {
    const service = await open({ maxSessions: 2, idleSeconds: 0.3 });
    const { session_id } = (await ask(service, '/reset', {})).observation;
    await ask(service, '/reset', {});
    const full = await post(service, '/reset', {});
    expect([full.status, full.headers.get('retry-after')]).toEqual([503, '5']);
    await post(service, '/close', { session_id });
    expect((await post(service, '/reset', {})).status).toBe(200);
    while ((await count(service)) > 0) await new Promise((next) => setTimeout(next, 50));
    expect((await post(service, '/close', { session_id })).status).toBe(404);
  });
});

it('describes itself as OpenEnv’s validator wants it', async () => {
  const service = await open();
  const get = async (path: string) => (await (await fetch(service.url + path)).json()) as object;
  expect(await get('/health')).toEqual({ status: 'healthy' });
  expect(await get('/metadata')).toMatchObject({ name: 'needle', description: 'A digit to find.' });
  const given = await get('/schema');
  const forms = z.object({
    action: z.looseObject({ required: z.tuple([z.literal('text')]) }),
    observation: z.looseObject({ properties: z.looseObject({}) }),
    state: z.looseObject({ properties: z.looseObject({}) }),
  });
  expect(() => forms.parse(given)).not.toThrow();
  const document = (await get('/openapi.json')) as { info: { version: string }; paths: object };
  expect(document.info.version).toMatch(/^1\./);
  expect(Object.keys(document.paths)).toEqual(
    expect.arrayContaining(['/reset', '/step', '/state']),
  );
  const mcp = await post(service, '/mcp', {});
  expect([mcp.status, await mcp.json()]).toMatchObject([200, { jsonrpc: '2.0' }]);
});

describe('the service', () => {
  it('withstands malformed requests', async () => {
    const service = await open({ bodies: { maxBytes: 300_000 } });
    const under = { url: service.url, paths: ['/reset', '/step', '/close'], maxBytes: 300_000 };
    const report = await fuzzService(under, { requests: 80 });
    expect(report.problems).toEqual([]);
  });

  it('ends at once under half-sent bodies', async () => {
    const service = await serveNeedles(sandbox);
    const under = { ...service, paths: ['/reset', '/step'], maxBytes: 1000 };
    await drainUnderHalfSentBodies(under);
  });
});
