/** The reward service over a real socket, in the words of each trainer. */
import type { AddressInfo } from 'node:net';
import { type ServerType, serve } from '@hono/node-server';
import { scriptedChat, textOf } from '@saccade/chat';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { askWith } from '../ask-judge.ts';
import { answerJudge } from '../judges/answer-judge.ts';
import { rewardService } from './reward-service.ts';
import { openScoreAnswer } from './score-answer.ts';

let server: ServerType;
let url: string;

beforeAll(async () => {
  const judge = scriptedChat((messages) => {
    const text = textOf(messages.slice(1));
    return text.includes('fail') ? 'hm' : text.includes('crimson') ? '1' : '0';
  });
  const score = openScoreAnswer({ verifier: 'math', ask: askWith(answerJudge, judge) });
  const about = { verifier: 'math', judge: 'scripted' };
  const app = rewardService({ score, about, maxBytes: 100_000 });
  await new Promise<void>((resolve) => {
    server = serve({ fetch: app.fetch, hostname: '127.0.0.1', port: 0 }, () => resolve());
  });
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => new Promise((resolve) => server.close(resolve)));

async function post(path: string, body: unknown): Promise<{ status: number; body: unknown }> {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  const headers = { 'content-type': 'application/json' };
  const response = await fetch(`${url}${path}`, { method: 'POST', headers, body: text });
  return { status: response.status, body: await response.json() };
}

describe('the batch endpoint', () => {
  it('scores every item, by its own verifier if it names one', async () => {
    const { status, body } = await post('/score', {
      items: [
        { response: '<think>x</think><answer>\\boxed{\\frac{1}{2}}</answer>', expected: '0.5' },
        { response: 'It is 7.\n\\boxed{3}', expected: 3 },
        { response: '<answer>3</answer>', expected: '4' },
        { response: 'red', expected: 'B', options: ['blue', 'red'] },
        { response: '[0,0,10,10]', expected: '[5,5,15,15]', verifier: 'box-iou' },
        { response: '<answer>3</answer></answer>', expected: '3' },
        { response: '', expected: '3' },
      ],
    });
    expect(status).toBe(200);
    expect(body).toEqual({
      rewards: [1, 1, 0, 1, expect.closeTo(1 / 7, 12), 0, 0],
      errors: [null, null, null, null, null, null, null],
    });
  });

  it('asks the judge where the rules refuse, and gives null where it fails', async () => {
    const question = 'Which color?';
    const { body } = await post('/score', {
      items: [
        { response: 'crimson', expected: 'red', question },
        { response: 'blue', expected: 'red', question },
        { response: 'fail', expected: 'red', question },
      ],
    });
    expect(body).toEqual({
      rewards: [1, 0, null],
      errors: [null, null, expect.stringMatching(/gave no grade/)],
    });
  });
});

it('speaks OpenRLHF: the prompt is taken off the query', async () => {
  const request = {
    query: ['What is 1+1? 3\n2', 'Q 5'],
    prompts: ['What is 1+1? ', 'Q '],
    labels: ['2', '4'],
  };
  expect(await post('/openrlhf', request)).toEqual({
    status: 200,
    body: { rewards: [1, 0], scores: [1, 0], extra_logs: { accuracy: [1, 0] } },
  });
});

it('speaks slime: one number', async () => {
  const request = { prompt: 'What is 1+1?', response: '\\boxed{2}', label: '2' };
  expect(await post('/slime', request)).toEqual({ status: 200, body: 1 });
  const failing = { prompt: 'Which?', response: 'fail', label: 'red' };
  expect((await post('/slime', failing)).status).toBe(503);
});

describe('what is wrong is said with a remedy', () => {
  it.each([
    ['/score', 'no json', 400, /not JSON/],
    ['/score', {}, 400, /"items" does not fit/],
    ['/score', { items: [{ response: 3, expected: '3' }] }, 400, /"items\.0\.response"/],
    [
      '/score',
      { items: [{ response: '3', expected: '3', verifier: 'x' }] },
      400,
      /no verifier "x". Known: anls/,
    ],
    ['/openrlhf', { query: ['a'], prompts: [], labels: ['b'] }, 400, /"prompts"/],
    ['/openrlhf', { query: ['a'], prompts: ['a', 'b'], labels: ['b'] }, 400, /one length/],
    ['/slime', { response: 'x' }, 400, /"label"/],
    ['/reward', {}, 404, /There is no POST \/reward/],
    ['/score', `"${'x'.repeat(200_000)}"`, 413, /more than 100000 bytes/],
  ])('%s, case %#', async (path, request, status, fact) => {
    const answer = await post(path, request);
    expect(answer).toEqual({
      status,
      body: { error: { fact: expect.stringMatching(fact), remedy: expect.stringMatching(/\w/) } },
    });
  });
});

it('says how it is', async () => {
  const response = await fetch(`${url}/health`);
  expect(await response.json()).toMatchObject({ status: 'healthy', verifier: 'math', failed: 2 });
});
