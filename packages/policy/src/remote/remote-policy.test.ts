/** The client on our own service over real sockets, in the words of both families of engines. */
import type { ServerResponse } from 'node:http';
import { nativeBackend } from '@saccade/backend-native';
import { type Device, openDevice } from '@saccade/ops';
import { encode } from 'fast-png';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { scoringBatch } from '../contract.ts';
import type { LocalPolicy } from '../local-policy.ts';
import type { SampleRequest, SampleResult } from '../policy.ts';
import type { ServedPolicy } from '../serve/served-engine.ts';
import { tinyPolicy, tinyProcessor } from '../tiny-policy.fixture.ts';
import { EngineError, type EngineFault } from './engine-error.ts';
import { EngineHttp } from './engine-http.ts';
import { describeEngine } from './probe-engine.ts';
import { openRemotePolicy, RemotePolicy } from './remote-policy.ts';
import { type Served, served } from './served.fixture.ts';

let device: Device;
let local: LocalPolicy;
/** Requests that the served policy has at a time, at most. */
let mostRunning = 0;
let running = 0;

const counted: ServedPolicy = {
  version: 0,
  processor: tinyProcessor,
  async sample(request) {
    mostRunning = Math.max(mostRunning, ++running);
    try {
      return await local.sample(request);
    } finally {
      running--;
    }
  },
  release: (key) => local.release(key),
  load: (directory) => local.load(directory),
};

beforeAll(() => {
  device = openDevice(nativeBackend({ threads: 1 }));
  local = tinyPolicy(device);
});
afterAll(() => {
  local.dispose();
  device.dispose();
});

const textPrompt = tinyProcessor.encodePrompt([{ kind: 'text', text: 'Which digit is hidden?' }]);

function requestOf(changes: Partial<SampleRequest> = {}): SampleRequest {
  return {
    ...textPrompt,
    maxTokens: 12,
    stop: [],
    temperature: 1,
    seed: [0x89abcdef, 0xfedcba98],
    conversation: 'mine',
    ...changes,
  };
}

async function sampleLocally(request: SampleRequest): Promise<SampleResult> {
  const result = await local.sample({ ...request, conversation: `local/${request.conversation}` });
  local.release(`local/${request.conversation}`);
  return result;
}

/** A PNG of noise. */
function noisePng(width: number, height: number, seed: number): Uint8Array {
  let state = seed;
  const data = Uint8Array.from({ length: width * height * 3 }, () => {
    state = (state * 1103515245 + 12345) % 2 ** 31;
    return state >> 16;
  });
  return encode({ width, height, data, channels: 3 });
}

/** Answers of a broken server, and the fault that each one is. */
const broken: Readonly<
  Record<string, readonly [EngineFault, (response: ServerResponse) => unknown]>
> = {
  'no JSON': ['garbled', (response) => response.end('<html>')],
  'another JSON': [
    'garbled',
    (response) => response.end('{"choices":[{"text":"hi"}],"text":"hi"}'),
  ],
  'status 400': ['refused', (response) => response.writeHead(400).end('no')],
  'status 503 without a time': ['overloaded', (response) => response.writeHead(503).end('later')],
  'half an answer': [
    'broken',
    (response) => {
      response.writeHead(200, { 'content-length': 900 }).write('{"a', () => response.destroy());
    },
  ],
  'a reset connection': ['broken', (response) => response.socket?.destroy()],
};

describe.each(['vllm', 'sglang'] as const)('a remote policy on a %s service', (speaks) => {
  let service: Served;
  let remote: RemotePolicy;
  const path = speaks === 'vllm' ? '/v1/completions' : '/generate';
  beforeAll(async () => {
    service = await served({ policy: counted, speaks, model: 'tiny' });
    remote = await openRemotePolicy({
      baseUrl: `${service.url}/v1`,
      processor: tinyProcessor,
      needs: { temperedLogprobs: true },
      timeoutSeconds: 20,
      policyVersion: 3,
    });
  });
  afterEach(() => {
    service.fault = undefined;
  });
  afterAll(() => service.close());

  it('finds out by asking what the engine can', () => {
    const { report } = remote;
    expect(report.model).toBe('tiny');
    expect(report.capabilities.map(({ name, state }) => `${name}: ${state}`)).toEqual([
      'token ids: yes',
      'log-probs: yes',
      'tempered log-probs: yes',
      'truncated log-probs: yes',
      'stop strings: yes',
      'seeds: yes',
      'images: yes',
      'weight version: yes',
      'reloading: yes',
    ]);
    expect(describeEngine(report)[0]).toMatch(/^Saccade.*, model tiny$/);
    expect(describeEngine(report)[1]).toMatch(/^yes {2}token ids +in and out/);
  });

  it('gives the tokens and log-probs of the local engine, bit for bit', async () => {
    for (const [i, temperature] of [1, 0.7, 0, 1].entries()) {
      const request = requestOf({ temperature, seed: [0xffffffff - i, i], conversation: `t${i}` });
      const result = await remote.sample(request);
      expect(result).toEqual({ ...(await sampleLocally(request)), policyVersion: 0 });
      expect(result.tokens.length).toBeGreaterThan(0);
    }
    for (const filters of [{ topK: 5 }, { topP: 0.8, temperature: 0.7 }, { minP: 0.1 }]) {
      const { keptMass: _, ...own } = await sampleLocally(requestOf(filters));
      expect(await remote.sample(requestOf(filters))).toEqual({ ...own, policyVersion: 0 });
    }
    const on = requestOf({ ignoreEndOfTurn: true, maxTokens: 40 });
    expect((await remote.sample(on)).tokens).toHaveLength(40);
  });

  it('sends images beside token ids, and continues after an observation with another', async () => {
    const prepare = (seed: number) => remote.processor.prepareImage(noisePng(84, 56, seed));
    const [first, second] = [await prepare(1), await prepare(2)];
    const prompt = remote.processor.encodePrompt([
      { kind: 'image', image: first },
      { kind: 'text', text: 'Which digit?' },
    ]);
    const asked = requestOf({ ...prompt, conversation: 'look' });
    const turn = await remote.sample(asked);
    expect(turn).toEqual({ ...(await sampleLocally(asked)), policyVersion: 0 });
    const seen = remote.processor.encodeObservation([{ kind: 'image', image: second }], false);
    const next = requestOf({
      tokens: Int32Array.from([...prompt.tokens, ...turn.tokens, ...seen.tokens]),
      images: [first, second],
      conversation: 'look',
    });
    expect(await remote.sample(next)).toEqual({ ...(await sampleLocally(next)), policyVersion: 0 });
    const stranger = await tinyProcessor.prepareImage(noisePng(84, 56, 3));
    const lost = requestOf({ ...prompt, images: [stranger] });
    await expect(remote.sample(lost)).rejects.toThrow(/was not prepared by the remote policy/);
    const written = requestOf({
      tokens: Int32Array.from([...prompt.tokens, tinyProcessor.imageToken, 9]),
      images: [first],
    });
    await expect(remote.sample(written)).rejects.toThrow(/the model wrote one itself/);
  });

  it('stops at stop strings, which stay in its tokens', async () => {
    const on = requestOf({ maxTokens: 24, ignoreEndOfTurn: true });
    const { tokens } = await sampleLocally(on);
    const texts = Array.from(tokens, (token) => tinyProcessor.decode(Int32Array.of(token)));
    const at = texts.findIndex(
      (text, i) =>
        i > 2 && /^[ -~]+$/.test(text) && !texts.slice(0, i).some((t) => t.includes(text)),
    );
    const stopping = requestOf({ ...on, stop: ['never said', texts[at] as string] });
    const result = await remote.sample(stopping);
    expect(result).toEqual({ ...(await sampleLocally(stopping)), policyVersion: 0 });
    expect(result.finish).toBe('stop');
    expect(result.text.endsWith(texts[at] as string)).toBe(true);
  });

  it('answers many requests at once, in one batch, as if each were alone', async () => {
    const requests = Array.from({ length: 24 }, (_, i) =>
      requestOf({ seed: [i, 1], conversation: `many/${i % 20}`, maxTokens: 8 + i }),
    );
    mostRunning = 0;
    const results = await Promise.all(requests.map((request) => remote.sample(request)));
    expect(mostRunning).toBeGreaterThan(12);
    for (const [i, request] of requests.entries()) {
      const alone = await sampleLocally({ ...request, conversation: `alone/${i}` });
      expect(results[i]).toEqual({ ...alone, policyVersion: 0 });
    }
  });

  it('lets go of a request that is aborted, here and there', async () => {
    const controller = new AbortController();
    const long = requestOf({ maxTokens: 200, ignoreEndOfTurn: true, signal: controller.signal });
    const sampling = remote.sample(long);
    while (running === 0) await new Promise((resolve) => setTimeout(resolve, 1));
    controller.abort(new Error('enough'));
    await expect(sampling).rejects.toThrow('enough');
    while (running > 0) await new Promise((resolve) => setTimeout(resolve, 1));
    await expect(remote.sample(long)).rejects.toThrow('enough');
  });

  it.each(Object.entries(broken))(
    'names the fault of a server that answers with %s, and sends nothing twice',
    async (_, [fault, answer]) => {
      const before = service.count(path);
      service.fault = (at, __, response) => {
        if (at !== path) return false;
        answer(response);
        return true;
      };
      const failed = remote.sample(requestOf());
      await expect(failed).rejects.toBeInstanceOf(EngineError);
      await expect(failed).rejects.toMatchObject({ fault });
      expect(service.count(path)).toBe(before + 1);
    },
  );

  it('repeats what a server failed at, and names the fault of one that goes on failing', async () => {
    let failures = 3;
    service.fault = (at, _, response) => {
      if (at !== path || failures-- <= 0) return false;
      response.writeHead(failures % 2 === 0 ? 500 : 502).end('boom');
      return true;
    };
    const request = requestOf({ conversation: 'repeated' });
    expect((await remote.sample(request)).tokens).toEqual((await sampleLocally(request)).tokens);
    const http = new EngineHttp({ baseUrl: service.url, retries: 1 });
    const hasty = new RemotePolicy(http, remote.dialect, tinyProcessor, remote.report, 0);
    const before = service.count(path);
    failures = Infinity;
    const failed = hasty.sample(requestOf());
    await expect(failed).rejects.toMatchObject({
      fault: 'failed',
      message: /answered 50[02]: boom/,
    });
    expect(service.count(path)).toBe(before + 2);
  });

  it('comes again when a busy server says when', async () => {
    let turned = 0;
    service.fault = (at, _, response) => {
      if (at !== path || turned === 2) return false;
      response.writeHead(turned++ === 0 ? 429 : 503, { 'retry-after': '0' }).end();
      return true;
    };
    const request = requestOf({ conversation: 'patient' });
    expect((await remote.sample(request)).tokens).toEqual((await sampleLocally(request)).tokens);
    expect(turned).toBe(2);
  });

  it('waits for no answer longer than it was told to', async () => {
    const http = new EngineHttp({ baseUrl: service.url, timeoutSeconds: 0.1 });
    const hasty = new RemotePolicy(http, remote.dialect, tinyProcessor, remote.report, 0);
    service.fault = (at) => at === path;
    const sampling = hasty.sample(requestOf());
    await expect(sampling).rejects.toMatchObject({ fault: 'timeout' });
    await expect(sampling).rejects.toThrow(/gave no answer within 0\.1 s\. Raise timeoutSeconds/);
  });

  it('refuses a prompt that the server tokenized again', async () => {
    const changed = await served({
      policy: { ...counted, processor: tinyProcessor },
      speaks,
    });
    try {
      const client = await openRemotePolicy({ baseUrl: changed.url, processor: tinyProcessor });
      changed.fault = (at, request, response) => {
        if (at !== path) return false;
        let text = '';
        request.on('data', (chunk) => (text += chunk));
        request.on('end', async () => {
          const sent = await fetch(`${service.url}${at}`, { method: 'POST', body: text });
          const body = JSON.parse(await sent.text());
          const prompt = (body.choices?.[0] ?? body).prompt_token_ids as number[];
          prompt.splice(2, 1, 7, 7);
          response.end(JSON.stringify(body));
        });
        return true;
      };
      const sampling = client.sample(requestOf());
      await expect(sampling).rejects.toMatchObject({ fault: 'retokenized' });
      await expect(sampling).rejects.toThrow(/at 2 it has 7, expected/);
    } finally {
      await changed.close();
    }
  });

  it('tells log-probs before temperature and truncation from those after, and refuses both there', async () => {
    const raw = await served({
      policy: {
        ...counted,
        async sample(request) {
          const result = await local.sample(request);
          const { logprobs } = await local.score(scoringBatch(request, [result], false));
          return { ...result, logprobs };
        },
      },
      speaks,
    });
    try {
      const client = await openRemotePolicy({ baseUrl: raw.url, processor: tinyProcessor });
      const { capabilities } = client.report;
      expect(capabilities.find(({ name }) => name === 'tempered log-probs')?.state).toBe('no');
      expect((await client.sample(requestOf())).tokens.length).toBeGreaterThan(0);
      await expect(client.sample(requestOf({ temperature: 0.5 }))).rejects.toThrow(
        /gives log-probs before the temperature.*temperature 0\.5/,
      );
      expect(capabilities.find(({ name }) => name === 'truncated log-probs')?.state).toBe('no');
      await expect(client.sample(requestOf({ topP: 0.9 }))).rejects.toThrow(
        /gives log-probs before topK, topP and minP.*topK 0, topP 0\.9, minP 0/,
      );
      const strict = {
        baseUrl: raw.url,
        processor: tinyProcessor,
        needs: { temperedLogprobs: true },
      };
      await expect(openRemotePolicy(strict)).rejects.toMatchObject({ fault: 'incapable' });
    } finally {
      await raw.close();
    }
  });

  it('names what is missing when it is opened: images, token ids, an engine at all', async () => {
    const options = { processor: tinyProcessor, retries: 0 };
    const bare = await served({ policy: counted, speaks });
    try {
      bare.fault = (at, request, response) => {
        let text = '';
        const isImage = at === '/inference/v1/generate';
        if (!isImage && at !== '/generate') return false;
        request.on('data', (chunk) => (text += chunk));
        request.on('end', async () => {
          if (isImage || text.includes('image_data')) response.writeHead(404).end('none');
          else {
            const sent = await fetch(`${service.url}${at}`, { method: 'POST', body: text });
            response.end(await sent.text());
          }
        });
        return true;
      };
      await expect(openRemotePolicy({ ...options, baseUrl: bare.url })).rejects.toThrow(
        /lacks images: .*404.*It takes/s,
      );
      const blind = await openRemotePolicy({
        ...options,
        baseUrl: bare.url,
        needs: { images: false },
      });
      expect((await blind.sample(requestOf())).tokens.length).toBeGreaterThan(0);
      bare.fault = (at, _, response) => {
        if (at !== path) return false;
        response.end('{"choices":[{"text":"hi","finish_reason":"stop"}],"text":"hi"}');
        return true;
      };
      await expect(openRemotePolicy({ ...options, baseUrl: bare.url })).rejects.toThrow(
        /lacks token ids/,
      );
      bare.fault = (_, __, response) => {
        response.writeHead(404).end();
        return true;
      };
      await expect(openRemotePolicy({ ...options, baseUrl: bare.url })).rejects.toThrow(
        /is neither vLLM .* nor SGLang/,
      );
    } finally {
      await bare.close();
    }
    const gone = await served({ policy: counted });
    await gone.close();
    await expect(openRemotePolicy({ ...options, baseUrl: gone.url })).rejects.toMatchObject({
      fault: 'unreachable',
    });
  });
});
