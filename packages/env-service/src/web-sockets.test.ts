/** OpenEnv's web socket, on the real sandbox. */
import { getEventListeners } from 'node:events';
import { needle } from '@saccade/gym';
import { newServiceApp, openService, type Service, Sessions } from '@saccade/http/service';
import type { LocalSandbox } from '@saccade/sandbox';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { WebSocket } from 'ws';
import {
  answerOf,
  look,
  needleEnvironments,
  openTestSandbox,
  serveNeedles,
} from './environments.fixture.ts';
import type { Episode } from './episode.ts';
import type { EnvServiceOptions } from './service.ts';
import { openWebSockets } from './web-sockets.ts';

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

/** One connection that answers in order. */
class Socket {
  readonly #socket: WebSocket;
  readonly #answers: unknown[] = [];
  #wake: () => void = () => {};
  code: number | undefined;

  constructor(service: Service, path = '/ws', headers: Record<string, string> = {}) {
    this.#socket = new WebSocket(`${service.url.replace('http', 'ws')}${path}`, { headers });
    this.#socket.on('message', (text) => {
      this.#answers.push(JSON.parse(String(text)));
      this.#wake();
    });
    this.#socket.on('error', () => {});
  }
  opened(): Promise<boolean> {
    return new Promise((resolve) => {
      this.#socket.once('open', () => resolve(true));
      this.#socket.once('close', () => resolve(false));
    });
  }
  closed(): Promise<number> {
    return new Promise((resolve) => this.#socket.once('close', resolve));
  }
  send(message: unknown): void {
    this.#socket.send(typeof message === 'string' ? message : JSON.stringify(message));
  }
  // biome-ignore lint/suspicious/noExplicitAny: what a server says
  async next(): Promise<any> {
    while (this.#answers.length === 0) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    return this.#answers.shift();
  }
  close(): void {
    this.#socket.close();
  }
}

const throwIt = (error: unknown): never => {
  throw error;
};

describe('a web socket', () => {
  it('is one environment, as OpenEnv’s clients have it', async () => {
    const service = await open();
    const socket = new Socket(service);
    expect(await socket.opened()).toBe(true);
    socket.send({ type: 'reset', data: { seed: 3 } });
    const first = await socket.next();
    expect(first).toMatchObject({ type: 'observation', data: { reward: null, done: false } });
    socket.send({ type: 'step', data: { text: look } });
    socket.send({ type: 'state' });
    expect((await socket.next()).data.observation.result.kind).toBe('ok');
    expect(await socket.next()).toMatchObject({
      type: 'state',
      data: { step_count: 1, done: false },
    });
    const { answer } = await needle.task('train', 3);
    socket.send({ type: 'step', data: { text: answerOf(answer), metadata: {} } });
    expect((await socket.next()).data).toMatchObject({
      done: true,
      observation: { is_correct: true },
    });
    socket.send({ type: 'close' });
    expect(await socket.closed()).toBe(1000);
  });

  it.each([
    ['{', 'INVALID_JSON'],
    ['[1]', 'VALIDATION_ERROR'],
    [{ type: 'fly' }, 'UNKNOWN_TYPE'],
    [{ data: {} }, 'UNKNOWN_TYPE'],
    [{ type: 'reset', data: { seed: 'x' } }, 'VALIDATION_ERROR'],
    [{ type: 'step', data: { message: 'a' } }, 'VALIDATION_ERROR'],
    [{ type: 'step', data: { text: 'a' } }, 'EXECUTION_ERROR'],
    ['['.repeat(100_000), 'INVALID_JSON'],
  ])('answers %j with %s, and goes on', async (message, code) => {
    const socket = new Socket(await open());
    await socket.opened();
    socket.send(message);
    expect(await socket.next()).toMatchObject({ type: 'error', data: { code } });
    socket.send({ type: 'state' });
    expect((await socket.next()).type).toBe('state');
    socket.close();
  });

  it('keeps the rules of the service: token, path, number, page', async () => {
    const service = await open({ token: 'secret', maxSessions: 1 });
    expect(await new Socket(service).opened()).toBe(false);
    const headers = { authorization: 'Bearer secret' };
    expect(await new Socket(service, '/other', headers).opened()).toBe(false);
    const one = new Socket(service, '/ws', headers);
    expect(await one.opened()).toBe(true);
    const two = new Socket(service, '/ws', headers);
    expect(await two.next()).toMatchObject({ type: 'error', data: { code: 'CAPACITY_REACHED' } });
    const plain = await open();
    expect(await new Socket(plain, '/ws', { origin: 'https://a.example' }).opened()).toBe(false);
    expect(await new Socket(plain, '/ws', { host: 'evil.example' }).opened()).toBe(false);
  });

  it('ends when the service drains, after what it answers', async () => {
    const service = await open();
    const socket = new Socket(service);
    await socket.opened();
    socket.send({ type: 'reset', data: { seed: 1 } });
    await socket.next();
    const text = '<code>\n```python\nimport time\ntime.sleep(0.5)\nprint("done")\n```\n</code>';
    socket.send({ type: 'step', data: { text } });
    await new Promise((next) => setTimeout(next, 100));
    const closed = socket.closed();
    await Promise.all([service.drain(5), closed]);
    expect((await socket.next()).data.observation.result.stdout).toBe('done\n');
    expect(await closed).toBe(1001);
  });

  it('leaves nothing on the signal of the service when it closes', async () => {
    const seen: AbortSignal[] = [];
    const served = needleEnvironments(sandbox);
    const limits = { maxSessions: 4, idleSeconds: 60 };
    const sessions = new Sessions<Episode>(limits, (episode) => episode.dispose(), throwIt);
    const { take } = openWebSockets({ served, sessions, ...limits, onFault: throwIt });
    const wording = ({ fact }: { readonly fact: string }) => ({ fact });
    const app = newServiceApp({ routes: 'WS /ws', bodies: { maxBytes: 1 }, wording });
    const service = await openService({
      ...{ name: 'env', app, wording, dispose: () => sessions.endAll() },
      onUpgrade: (upgrade) => {
        seen.push(upgrade.signal);
        take(upgrade);
      },
    });
    opened.push(service);
    for (let count = 0; count < 3; count++) {
      const socket = new Socket(service);
      await socket.opened();
      const closed = socket.closed();
      socket.close();
      await closed;
    }
    const [signal] = seen;
    expect(new Set(seen).size).toBe(1);
    await vi.waitFor(() => {
      expect(signal && getEventListeners(signal, 'abort')).toEqual([]);
    });
  });

  it('that is unused is closed, and its place is free', async () => {
    const service = await open({ maxSessions: 1, idleSeconds: 0.2 });
    const socket = new Socket(service);
    await socket.opened();
    expect(await socket.closed()).toBe(1001);
    const headers = { 'content-type': 'application/json' };
    const reset = await fetch(`${service.url}/reset`, { method: 'POST', headers, body: '{}' });
    expect(reset.status).toBe(200);
  });
});
