/** A client against a server that follows a script: replies, faults, limits, cost, the cache. */
import { mkdtempSync, readdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { type ChatClientOptions, openChatClient } from './chat-client.ts';
import { ChatError } from './chat-error.ts';
import type { ChatRequest } from './chat-request.ts';
import { diskReplyCache } from './reply-cache.ts';
import {
  openScriptedServer,
  type ScriptedAnswer,
  type ScriptedServer,
  type ServerScript,
} from './scripted-server.ts';

const servers: ScriptedServer[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close();
});

async function open(script: ServerScript, options: Partial<ChatClientOptions> = {}) {
  const server = await openScriptedServer(script);
  servers.push(server);
  const client = openChatClient({
    ...{ baseUrl: server.baseUrl, model: 'm', firstPauseSeconds: 0.001, retries: 3 },
    ...options,
  });
  return { server, client };
}

const ask = (text = 'Hello'): ChatRequest => ({
  messages: [{ role: 'user', parts: [{ kind: 'text', text }] }],
});

/** Gives the answers in order, the last one for ever. */
const inTurn =
  (...answers: readonly ScriptedAnswer[]): ServerScript =>
  (_, call) =>
    answers[Math.min(call, answers.length - 1)] as ScriptedAnswer;

for (const streams of [true, false]) {
  describe(streams ? 'a streamed reply' : 'a whole reply', () => {
    it('is put together with its calls, its end and its tokens', async () => {
      const { server, client } = await open(
        inTurn({
          say: 'Let me look: ünï\u2028☃.',
          toolCalls: [{ name: 'crop', arguments: '{"box":[1,2]}' }],
          usage: { prompt_tokens: 40, completion_tokens: 9 },
        }),
        { streams, promptPrice: 2, completionPrice: 10 },
      );
      const png = Uint8Array.from({ length: 70_000 }, (_, i) => i % 251);
      const reply = await client.complete({
        messages: [
          { role: 'system', parts: [{ kind: 'text', text: 'See.' }] },
          {
            role: 'user',
            parts: [
              { kind: 'image', png },
              { kind: 'text', text: 'Where?' },
            ],
          },
        ],
        tools: [{ name: 'crop', parameters: { type: 'object' } }],
        ...{ temperature: 0.5, topP: 0.9, maxTokens: 20, seed: 7, stop: ['</code>'] },
        extra: { reasoning_effort: 'low' },
      });
      expect(reply).toMatchObject({
        text: 'Let me look: ünï\u2028☃.',
        toolCalls: [{ id: 'call-0', name: 'crop', arguments: '{"box":[1,2]}' }],
        finish: 'toolCalls',
        usage: { promptTokens: 40, completionTokens: 9 },
      });
      expect(client.usage()).toMatchObject({ requests: 1, promptTokens: 40, unmetered: 0 });
      expect(client.usage().cost).toBeCloseTo((40 * 2 + 9 * 10) / 1e6, 12);
      const [request] = server.requests;
      expect(request).toMatchObject({
        ...{ model: 'm', temperature: 0.5, top_p: 0.9, max_tokens: 20, seed: 7 },
        ...{ stop: ['</code>'], reasoning_effort: 'low' },
        tools: [{ type: 'function', function: { name: 'crop' } }],
      });
      const url = `data:image/png;base64,${Buffer.from(png).toString('base64')}`;
      expect(request?.messages[1]?.content).toEqual([
        { type: 'image_url', image_url: { url } },
        { type: 'text', text: 'Where?' },
      ]);
    });

    it('comes in spite of every fault that passes', async () => {
      const faults: ScriptedAnswer[] = [
        { status: 429, retryAfter: '0.01', body: 'slow down' },
        { status: 503, body: 'loading' },
        { status: 500, body: 'oops' },
        { say: 'half a rep', fault: 'break' },
        { say: '', usage: null },
        { say: 'half', fault: 'hang' },
      ];
      const seen: string[] = [];
      const { server, client } = await open(inTurn(...faults, { say: 'whole' }), {
        ...{ streams, retries: faults.length, idleSeconds: 0.1, timeoutSeconds: 0.2 },
        onRetry: ({ fault }) => seen.push(fault),
      });
      expect((await client.complete(ask())).text).toBe('whole');
      expect(server.requests).toHaveLength(7);
      expect(seen).toEqual(['overloaded', 'overloaded', 'failed', 'broken', 'empty', 'timeout']);
      expect(client.usage()).toMatchObject({ requests: 1, retries: 6 });
    });

    it('is refused at once for what will not pass, in one sentence', async () => {
      const refusals: [ScriptedAnswer, string, RegExp][] = [
        [
          { status: 401, body: 'no such key' },
          'refused',
          /answered 401: no such key.*Check the model/,
        ],
        [{ status: 400, body: '{"error":{"message":"bad"}}' }, 'refused', /answered 400/],
        [{ raw: '<html>hi</html>' }, streams ? 'broken' : 'garbled', /broke off|no choices/],
        [{ raw: '{"data":[]}' }, 'garbled', /no choices\[0\]/],
        [{ say: null }, 'garbled', /no choices\[0\]/],
      ];
      for (const [answer, fault, words] of refusals) {
        const { client } = await open(inTurn(answer), { streams, retries: 0 });
        const error = await client.complete(ask()).catch((thrown: unknown) => thrown);
        expect(error).toBeInstanceOf(ChatError);
        expect(error).toMatchObject({ fault, message: expect.stringMatching(words) });
      }
    });
  });
}

describe('a client', () => {
  it('stops listening once it has heard enough, and reads servers that do not stream', async () => {
    const { client } = await open(inTurn({ say: 'abc</code> and more', ignoresStop: true }));
    const isEnough = (text: string): boolean => text.includes('c<');
    expect((await client.complete(ask(), { isEnough })).text).not.toContain('more');
    const whole = '{"choices":[{"message":{"content":"plain"},"finish_reason":"stop"}]}';
    const plain = await open(inTurn({ raw: whole }));
    expect((await plain.client.complete(ask())).text).toBe('plain');
    expect(plain.client.usage()).toMatchObject({ unmetered: 1, completionTokens: 2 });
  });

  it('sends no more requests at a time than it may', async () => {
    const { server, client } = await open(
      async () => {
        await new Promise((resolve) => setTimeout(resolve, 5));
        return { say: 'ok' };
      },
      { maxConcurrent: 3 },
    );
    await Promise.all(Array.from({ length: 12 }, (_, i) => client.complete(ask(`${i}`))));
    expect(server.mostOpen).toBe(3);
  });

  it('spends no more than it may', async () => {
    const usage = { prompt_tokens: 1_000_000, completion_tokens: 0 };
    const { server, client } = await open(inTurn({ say: 'ok', usage }), {
      promptPrice: 3,
      maxCost: 5,
    });
    await client.complete(ask('1'));
    await client.complete(ask('2'));
    await expect(client.complete(ask('3'))).rejects.toThrow(/6.0000 of maxCost 5 are spent/);
    expect(server.requests).toHaveLength(2);
  });

  it('ends at once when it is cancelled, also between two tries', async () => {
    const { client } = await open(inTurn({ status: 500 }), { firstPauseSeconds: 60 });
    const controller = new AbortController();
    const asked = client.complete(ask(), { signal: controller.signal });
    setTimeout(() => controller.abort(new Error('enough')), 30);
    await expect(asked).rejects.toThrow('enough');
  });

  it('keeps its key out of errors and out of the cache', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'replies-'));
    const { client } = await open(inTurn({ say: 'ok' }, { status: 403, body: 'no' }), {
      ...{ apiKey: 'sk-secret', cache: diskReplyCache(directory), retries: 0 },
    });
    await client.complete(ask());
    const error = await client.complete(ask('other')).catch((thrown: unknown) => thrown);
    expect(JSON.stringify(error) + String(error)).not.toContain('sk-secret');
  });

  it('names a setting that is out of range', () => {
    expect(() => openChatClient({ retries: -1 })).toThrow(/chat.retries: expected/);
    expect(() => openChatClient({ baseUrl: 'localhost' })).toThrow(/baseUrl: expected an address/);
  });
});

describe('the cache', () => {
  it('answers equal requests, also of another process and at the same time, and no others', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'replies-'));
    const cache = diskReplyCache(directory);
    const { server, client } = await open((_, call) => ({ say: `reply ${call}` }), { cache });
    const [first, same] = await Promise.all([client.complete(ask()), client.complete(ask())]);
    expect([first.text, same.text]).toEqual(['reply 0', 'reply 0']);
    const again = openChatClient({
      baseUrl: server.baseUrl,
      model: 'm',
      cache: diskReplyCache(directory),
    });
    expect((await again.complete(ask())).text).toBe('reply 0');
    expect(again.usage()).toMatchObject({ requests: 0, cached: 1, cost: 0 });
    expect((await again.complete({ ...ask(), seed: 1 })).text).toBe('reply 1');
    expect(server.requests).toHaveLength(2);
  });

  it('passes over a file that is damaged', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'replies-'));
    const { server, client } = await open(inTurn({ say: 'ok' }), {
      cache: diskReplyCache(directory),
    });
    await client.complete(ask());
    const [folder = ''] = readdirSync(directory);
    const [file = ''] = readdirSync(join(directory, folder));
    writeFileSync(join(directory, folder, file), '{"text":"o');
    expect((await client.complete(ask())).text).toBe('ok');
    expect(server.requests).toHaveLength(2);
  });

  it('does not remember a failure', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'replies-'));
    const { client } = await open(inTurn({ status: 400 }, { say: 'ok' }), {
      cache: diskReplyCache(directory),
    });
    await expect(client.complete(ask())).rejects.toThrow(ChatError);
    expect((await client.complete(ask())).text).toBe('ok');
  });
});
