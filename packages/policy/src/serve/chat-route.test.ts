/** Chat completions: OpenAI's words, with images and tools, whole and streamed. */
import { nativeBackend } from '@saccade/backend-native';
import { type Device, openDevice } from '@saccade/ops';
import type { Hono } from 'hono';
import sharp from 'sharp';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { LocalPolicy } from '../local-policy.ts';
import { chatTemplate } from '../processor/chat-template.ts';
import { QwenProcessor } from '../processor/qwen-processor.ts';
import { tinyPolicy, tinyProcessor } from '../tiny-policy.fixture.ts';
import { GrowingText, readReply } from './chat-text.ts';
import { policyService } from './policy-service.ts';
import type { ServedPolicy } from './served-engine.ts';

let device: Device;
let policy: LocalPolicy;
let app: Hono;
beforeAll(() => {
  device = openDevice(nativeBackend({ threads: 1 }));
  policy = tinyPolicy(device);
  app = policyService({ policy, model: 'tiny' });
});
afterAll(() => {
  policy.dispose();
  device.dispose();
});

async function post(body: unknown, to = app) {
  const path = '/v1/chat/completions';
  const response = await to.request(path, { method: 'POST', body: JSON.stringify(body) });
  return { status: response.status, text: await response.text() };
}

/** The chunks of a stream; the last line must be [DONE]. */
async function streamed(body: object, to = app) {
  const { text } = await post({ ...body, stream: true }, to);
  const data = text.split('\n\n').flatMap((event) => (event === '' ? [] : [event.slice(6)]));
  expect(data.pop()).toBe('[DONE]');
  return data.map((json) => JSON.parse(json));
}

const contentOf = (chunks: readonly { choices: { delta: { content?: string } }[] }[]) =>
  chunks.map(({ choices }) => choices[0]?.delta.content ?? '').join('');

const messages = [
  { role: 'system', content: 'Look.' },
  { role: 'user', content: 'Which digit?' },
];

/** A policy that says a text, token by token. */
function speaker(text: string, template = chatTemplate): ServedPolicy {
  const processor = new QwenProcessor(tinyProcessor.tokenizerJson, tinyProcessor.images, {
    files: { ...tinyProcessor.files, chatTemplate: template },
  });
  return {
    ...{ version: 0, processor, release: () => {}, load: async () => {} },
    async sample({ onToken }) {
      const tokens = processor.encodeModelText(text, true);
      for (const token of tokens) onToken?.(token);
      const logprobs = new Float32Array(tokens.length);
      return { tokens, logprobs, text, finish: 'endOfTurn', policyVersion: 0 };
    },
  };
}

const withTools = `{%- if tools %}{{ tools | tojson }}{% endif %}${chatTemplate}`;
const tools = [{ type: 'function', function: { name: 'crop', parameters: {} } }];

describe('chat completions', () => {
  it('are sampled after the checkpoint’s own template', async () => {
    const asked = { messages, max_tokens: 12, seed: 3, return_token_ids: true, logprobs: true };
    const { status, text } = await post(asked);
    const body = JSON.parse(text);
    expect([status, body.object, body.model]).toEqual([200, 'chat.completion', 'tiny']);
    const prompt = tinyProcessor.encodePrompt([{ kind: 'text', text: 'Which digit?' }], 'Look.');
    expect(body.prompt_token_ids).toEqual(Array.from(prompt.tokens));
    const own = await policy.sample({
      ...{ tokens: prompt.tokens, images: [], maxTokens: 12, stop: [], temperature: 1 },
      ...{ topK: 0, topP: 1, minP: 0, seed: [0, 3], conversation: 'own' },
    });
    policy.release('own');
    const [choice] = body.choices;
    expect(choice.token_ids).toEqual(Array.from(own.tokens));
    expect(choice.message).toEqual({ role: 'assistant', content: own.text });
    expect(choice.logprobs.content.map(({ logprob }: { logprob: number }) => logprob)).toEqual(
      Array.from(own.logprobs),
    );
    expect(body.usage.total_tokens).toBe(prompt.tokens.length + own.tokens.length);
  });

  it('stream the same text, cut before a stop string, and say why they end', async () => {
    for (const stop of [undefined, 'e', ' ']) {
      const asked = { messages, max_tokens: 60, seed: 5, ...(stop && { stop }) };
      const whole = JSON.parse((await post(asked)).text);
      const chunks = await streamed({ ...asked, stream_options: { include_usage: true } });
      expect(chunks.pop()).toMatchObject({ choices: [], usage: whole.usage });
      expect(contentOf(chunks)).toBe(whole.choices[0].message.content);
      expect(chunks[0].choices[0].delta.role).toBe('assistant');
      const { finish_reason } = whole.choices[0];
      expect(chunks.at(-1).choices[0]).toMatchObject({ delta: {}, finish_reason });
    }
  });

  it('see images, by the data URLs of their parts', async () => {
    const png = await sharp({
      create: { width: 60, height: 60, channels: 3, background: '#123' },
    })
      .png()
      .toBuffer();
    const url = `data:image/png;base64,${png.toString('base64')}`;
    const shown = {
      role: 'user',
      content: [
        { type: 'image_url', image_url: { url } },
        { type: 'text', text: 'Which digit?' },
      ],
    };
    const asked = { messages: [shown], max_tokens: 2, return_token_ids: true };
    const { prompt_token_ids: ids } = JSON.parse((await post(asked)).text);
    const image = await tinyProcessor.prepareImage(png);
    const parts = [
      { kind: 'image', image } as const,
      { kind: 'text', text: 'Which digit?' } as const,
    ];
    expect(ids).toEqual(Array.from(tinyProcessor.encodePrompt(parts).tokens));
    const refused = await post({
      messages: [
        {
          ...shown,
          content: [{ ...shown.content[0], image_url: { url: 'http://elsewhere/a.png' } }],
        },
      ],
    });
    expect([refused.status, refused.text]).toEqual([400, expect.stringMatching(/data URL/)]);
  });

  it('give calls apart from the content, streamed too', async () => {
    const said =
      'Closer.\n<tool_call>\n{"name": "crop", "arguments": {"box": [1, 2]}}\n</tool_call>';
    const speaking = policyService({ policy: speaker(said, withTools) });
    const whole = JSON.parse((await post({ messages, tools }, speaking)).text);
    const expected = {
      type: 'function',
      function: { name: 'crop', arguments: '{"box":[1,2]}' },
    };
    expect(whole.choices[0]).toMatchObject({
      finish_reason: 'tool_calls',
      message: { content: 'Closer.', tool_calls: [expected] },
    });
    const chunks = await streamed({ messages, tools }, speaking);
    expect(contentOf(chunks)).toBe('Closer.');
    expect(chunks.at(-2).choices[0].delta.tool_calls).toMatchObject([{ index: 0, ...expected }]);
    expect(chunks.at(-1).choices[0].finish_reason).toBe('tool_calls');
    // Without tools it is text, and so is a call that cannot be read.
    const plain = JSON.parse((await post({ messages }, speaking)).text);
    expect(plain.choices[0].message).toEqual({ role: 'assistant', content: said });
    const broken = policyService({ policy: speaker('<tool_call>{"name"', withTools) });
    expect(contentOf(await streamed({ messages, tools }, broken))).toBe('<tool_call>{"name"');
  });

  it.each([
    [{ messages: [] }, /"messages" does not fit/],
    [{ messages: [{ role: 'robot', content: '' }] }, /"messages.0.role" does not fit/],
    [{ messages, n: 2 }, /only 1 is served/],
    [{ messages, tools }, /template of this model has no tools/],
    [{ messages, tools, tool_choice: 'required' }, /a call cannot be forced/],
    [{ messages, max_tokens: 1e7 }, /exceed the model's/],
  ])('refuse what is not served (%#)', async (body, message) => {
    const { status, text } = await post(body);
    expect([status, JSON.parse(text).error.message]).toEqual([400, expect.stringMatching(message)]);
  });

  it('say in the stream what comes up too late for a status', async () => {
    const { text } = await post({ messages, max_tokens: 1e7, stream: true });
    expect(text).toMatch(/"error":\{"message":"A context of .* exceed the model's/);
    expect(text).not.toContain('[DONE]');
  });
});

it('text grows by whole characters, and never shows the beginning of an end', () => {
  const text = 'é→🙂 a<too b <tool_call> c';
  const bytes = [...new TextEncoder().encode(text)];
  const decode = (tokens: Int32Array) => new TextDecoder().decode(Uint8Array.from(tokens));
  const growing = new GrowingText(decode, ['<tool_call>']);
  let shown = '';
  for (const byte of bytes) {
    shown += growing.push(byte);
    expect('é→🙂 a<too b'.startsWith(shown), shown).toBe(true);
  }
  expect(shown).toBe('é→🙂 a<too b');
  expect(growing.finish(text)).toBe(' <tool_call> c');
  expect(
    readReply('a<tool_call>{"name":"x","arguments":{}}</tool_call><tool_call>no', true, 'i'),
  ).toEqual({
    content: 'a<tool_call>{"name":"x","arguments":{}}</tool_call><tool_call>no',
    calls: [],
  });
});
