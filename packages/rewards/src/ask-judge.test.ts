/** Asking a judge over a real server: grades, cache, retries, time-outs, bounds, failures. */
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openAiChat, scriptedChat, textOf } from '@saccade/chat';
import { type Trajectory, TrajectoryBuilder } from '@saccade/trajectory';
import { afterEach, describe, expect, it } from 'vitest';
import { askWith, memoryCache } from './ask-judge.ts';
import { fileCache } from './file-cache.ts';
import { gradeCrops, judgedVerifier } from './judged.ts';
import { answerJudge } from './judges/answer-judge.ts';
import { cropJudge } from './judges/crop-judge.ts';
import { accuracy } from './rewards/accuracy.ts';
import { RewardError, scoreGroup } from './score.ts';
import { exact } from './verifiers/exact.ts';

interface Request {
  readonly path: string;
  readonly authorization?: string;
  readonly body: {
    readonly temperature: number;
    readonly messages: readonly { readonly content: readonly Record<string, unknown>[] }[];
  };
}

const servers: Server[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
});

/** A chat completions server on the loopback; `answer` gets every request. */
async function serve(
  answer: (request: Request, response: ServerResponse, call: number) => void,
): Promise<{ baseUrl: string; requests: Request[] }> {
  const requests: Request[] = [];
  const server = createServer(async (incoming: IncomingMessage, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(chunk as Buffer);
    const { authorization } = incoming.headers;
    const body = JSON.parse(Buffer.concat(chunks).toString()) as Request['body'];
    const path = incoming.url ?? '';
    requests.push({ path, body, ...(authorization !== undefined && { authorization }) });
    answer(requests.at(-1) as Request, response, requests.length - 1);
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`, requests };
}

const say = (response: ServerResponse, content: unknown): void => {
  response.setHeader('content-type', 'application/json');
  response.end(JSON.stringify({ choices: [{ message: { role: 'assistant', content } }] }));
};

/** The reply of a model that follows the form. */
function marked(request: Request, grade: number): string {
  const system = String(request.body.messages[0]?.content[0]?.text);
  return `They agree.\n${/GRADE \w+/.exec(system)?.[0]} ${grade}`;
}

const fast = { firstPauseSeconds: 0.001, timeoutSeconds: 5 };
const input = { question: 'Which color?', answer: 'crimson', expected: 'red' };

describe('a judge behind an OpenAI-compatible server', () => {
  it('is asked at temperature 0 and gives its grade', async () => {
    const { baseUrl, requests } = await serve((request, response) =>
      say(response, marked(request, 1)),
    );
    const model = openAiChat({ baseUrl, model: 'judge', apiKey: 'key' });
    expect(await askWith(answerJudge, model)(input)).toBe(1);
    const [request] = requests;
    expect(request).toMatchObject({ path: '/v1/chat/completions', authorization: 'Bearer key' });
    expect(request?.body).toMatchObject({ model: 'judge', temperature: 0, seed: 0 });
  });

  it('is shown images as data URLs', async () => {
    const { baseUrl, requests } = await serve((request, response) =>
      say(response, marked(request, 0.5)),
    );
    const ask = askWith(cropJudge, openAiChat({ baseUrl, model: 'judge' }));
    const png = Uint8Array.from({ length: 100_000 }, (_, index) => index % 256);
    expect(await ask({ question: 'q', png, metadata: { width: 3 } })).toBe(0.5);
    const url = requests[0]?.body.messages[1]?.content.at(-1)?.image_url as { url: string };
    expect(url.url).toBe(`data:image/png;base64,${Buffer.from(png).toString('base64')}`);
  });

  it('is asked again after 503 and 429, and not after 401', async () => {
    const { baseUrl, requests } = await serve((request, response, call) => {
      if (call === 0) response.writeHead(503).end('loading');
      else if (call === 1) response.writeHead(429, { 'retry-after': '0' }).end('busy');
      else say(response, marked(request, 0));
    });
    const model = openAiChat({ baseUrl, model: 'judge', ...fast });
    expect(await askWith(answerJudge, model)(input)).toBe(0);
    expect(requests).toHaveLength(3);

    const locked = await serve((_, response) => response.writeHead(401).end('no such key'));
    const refused = openAiChat({ baseUrl: locked.baseUrl, model: 'judge', ...fast });
    await expect(askWith(answerJudge, refused)(input)).rejects.toThrow(/answered 401: no such key/);
    expect(locked.requests).toHaveLength(1);
  });

  it('fails with a RewardError where it is silent, gone, or says no grade', async () => {
    const silent = await serve(() => undefined);
    const options = { ...fast, timeoutSeconds: 0.06, retries: 1 };
    const slow = openAiChat({ baseUrl: silent.baseUrl, model: 'judge', ...options });
    const late = askWith(answerJudge, slow)(input);
    await expect(late).rejects.toThrow(RewardError);
    await expect(late).rejects.toThrow(/no answer within 0.06 s/);
    expect(silent.requests).toHaveLength(2);

    const gone = { baseUrl: 'http://127.0.0.1:9/v1', model: 'judge', ...fast, retries: 0 };
    const nobody = askWith(answerJudge, openAiChat(gone))(input);
    await expect(nobody).rejects.toThrow(RewardError);
    await expect(nobody).rejects.toThrow(/cannot be reached/);

    const chatty = await serve((_, response) => say(response, 'I like it. Grade: 1'));
    const ask = askWith(answerJudge, openAiChat({ baseUrl: chatty.baseUrl, model: 'judge' }));
    await expect(ask(input)).rejects.toThrow(/gave no grade in 2 replies/);

    const strange = await serve((_, response) => say(response, null));
    const odd = askWith(answerJudge, openAiChat({ baseUrl: strange.baseUrl, model: 'judge' }));
    await expect(odd(input)).rejects.toThrow(/gave no choices\[0\]\.message\.content/);
  });

  it('is asked no more than the bound at a time', async () => {
    let now = 0;
    let most = 0;
    const { baseUrl } = await serve((request, response) => {
      most = Math.max(most, ++now);
      setTimeout(() => {
        now--;
        say(response, marked(request, 1));
      }, 10);
    });
    const model = openAiChat({ baseUrl, model: 'judge', ...fast, maxConcurrent: 3 });
    const ask = askWith(answerJudge, model);
    const answers = Array.from({ length: 20 }, (_, index) => ({ ...input, answer: `${index}` }));
    expect(await Promise.all(answers.map(ask))).toEqual(answers.map(() => 1));
    expect(most).toBe(3);
  });
});

describe('the cache', () => {
  it('asks equal questions once, also at the same time, and another one anew', async () => {
    const model = scriptedChat(() => '1');
    const ask = askWith(answerJudge, model);
    await Promise.all([ask(input), ask(input), ask({ ...input })]);
    await ask(input);
    expect(model.asked).toHaveLength(1);
    await ask({ ...input, answer: 'blue' });
    await askWith(
      answerJudge,
      scriptedChat(() => '0', 'other'),
      { cache: memoryCache() },
    )(input);
    expect(model.asked).toHaveLength(2);
  });

  it('does not remember a failure', async () => {
    const model = scriptedChat((_, call) => (call < 2 ? 'well' : '1'));
    const ask = askWith(answerJudge, model);
    await expect(ask(input)).rejects.toThrow(RewardError);
    expect(await ask(input)).toBe(1);
  });

  it('in a file outlives the process, and a line cut short', async () => {
    const path = join(mkdtempSync(join(tmpdir(), 'grades-')), 'judge', 'grades.jsonl');
    const model = scriptedChat(() => '1');
    await askWith(answerJudge, model, { cache: fileCache(path) })(input);
    writeFileSync(path, `${readFileSync(path, 'utf8')}["cut`);
    const again = askWith(answerJudge, model, { cache: fileCache(path) });
    expect(await again(input)).toBe(1);
    expect(model.asked).toHaveLength(1);
    await again({ ...input, answer: 'blue' });
    expect(await askWith(answerJudge, model, { cache: fileCache(path) })(input)).toBe(1);
    expect(model.asked).toHaveLength(2);
  });
});

function answered(sampleIndex: number, answer: string): Trajectory {
  const made = new TrajectoryBuilder({ id: `t/${sampleIndex}`, taskId: 't', sampleIndex });
  const image = {
    name: 'image_clue_1',
    png: Uint8Array.of(sampleIndex),
    width: 10,
    height: 20,
    modelWidth: 28,
    modelHeight: 28,
    tokenCount: 1,
    origin: { image: 'image_clue_0', map: [0.5, 0, 100, 0, 0.5, 200] as const },
  };
  const speak = (text: string): void =>
    made.model({ tokens: Int32Array.of(2), logprobs: Float32Array.of(-1), text, policyVersion: 0 });
  const { origin: _, ...photo } = { ...image, name: 'image_clue_0' };
  made.prompt({ tokens: Int32Array.of(1), images: [photo], text: 'which color' });
  speak('<code>crop()  # surely the evidence</code>');
  const ran = {
    kind: 'ok',
    stdout: 'clearly visible',
    stderr: '',
    imageCount: 1,
    wallMs: 1,
  } as const;
  made.turn({ kind: 'code', code: 'crop()' }, ran);
  made.observation({ tokens: Int32Array.of(3), images: [image], text: 'clearly visible' });
  speak(`<answer>${answer}</answer>`);
  made.turn({ kind: 'answer', answer });
  return made.finish('answered');
}

describe('scoring with a judge', () => {
  const task = { answer: 'red', metadata: {} };
  const group = {
    taskId: 't',
    trajectories: ['Red', 'crimson', 'blue', 'crimson', 'strange'].map((a, i) => answered(i, a)),
  };

  it('lets rules decide first, and never scores what the judge failed on', async () => {
    const model = scriptedChat((messages) => {
      const text = textOf(messages.slice(1));
      return text.includes('strange') ? 'hm' : text.includes('crimson') ? '1' : '0';
    });
    const ask = askWith(answerJudge, model);
    const question = 'Which color?';
    const verifier = await judgedVerifier(group, task, { question, verifier: exact, ask });
    const terms = [{ reward: accuracy, weight: 1 }];
    const { scored, failed } = scoreGroup(group, task, { verifier, terms });
    expect(scored.trajectories.map(({ reward }) => reward)).toEqual([1, 1, 0, 1]);
    expect(failed.map(({ id, failure }) => [id, failure?.boundary])).toEqual([['t/4', 'reward']]);
    // "Red" is right by the rules; "crimson" was asked once; "strange" twice without a grade.
    expect(model.asked).toHaveLength(4);
  });

  it('grades the images of tool turns and shows nothing that the model wrote', async () => {
    const model = scriptedChat(() => '0.5');
    const [first] = group.trajectories;
    const grades = first && (await gradeCrops(first, 'Which color?', askWith(cropJudge, model)));
    expect(grades).toEqual([0.5, undefined]);
    const shown = model.asked.map(textOf).join();
    expect(shown).toMatch(/bottom 210\nheight 20\nleft 100\nright 105\ntop 200\nwidth 10/);
    expect(shown).not.toMatch(/crop\(\)|clearly visible|evidence/);
  });
});
