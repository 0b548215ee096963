/** A model behind a chat API in the environments that local policies play in. */

import { mkdtempSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ServerType, serve } from '@hono/node-server';
import {
  openScriptedServer,
  type ScriptedServer,
  type SentRequest,
  type ServerScript,
  sentText,
} from '@saccade/chat/scripted-server';
import { createToolEnv, type Protocol, protocols, type Task } from '@saccade/gym';
import {
  QwenProcessor,
  qwenImageProcessor,
  type SampleRequest,
  trainTokenizer,
} from '@saccade/policy';
import { policyService } from '@saccade/policy/serve';
import type { LocalSandbox } from '@saccade/sandbox';
import { ensurePython, openSandbox } from '@saccade/sandbox';
import { coordinateImage } from '@saccade/sandbox/contract';
import { checkTrajectory, type Trajectory } from '@saccade/trajectory';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { packTrajectories } from '../pack.ts';
import { rollout } from '../rollout.ts';
import { runRollouts } from '../runner.ts';
import { LookEnv } from '../scripted.fixture.ts';
import { type ChatPlayerOptions, openChatPlayer } from './chat-player.ts';
import { withPrompting } from './prompting.ts';

const environment = join(import.meta.dirname, '../../../../.cache/sandbox-venv');
const [width, height] = [160, 120];
const photo: Task = {
  id: 'photo',
  question: 'What is written on the sign?',
  images: [{ name: 'image_clue_0', png: coordinateImage(width, height), width, height }],
  answer: 'STOP',
  metadata: {},
};

const taskOf = (id: string): Task => ({ ...photo, id });

let sandbox: LocalSandbox;
beforeAll(async () => {
  sandbox = await openSandbox({ python: (await ensurePython(environment)).python });
}, 300_000);
afterAll(() => sandbox.dispose());

const servers: ScriptedServer[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close();
});

async function player(script: ServerScript, options: Partial<ChatPlayerOptions> = {}) {
  const server = await openScriptedServer(script);
  servers.push(server);
  const sampler = await openChatPlayer({
    ...{ baseUrl: server.baseUrl, model: 'teacher', firstPauseSeconds: 0.001 },
    ...options,
  });
  return { server, sampler };
}

const budgets = { seed: 1, maxTokensPerTurn: 400, maxContextTokens: 8000 };

/** One look and the answer, in the words of a protocol. */
function looks(protocol: Protocol): readonly string[] {
  const box = [40, 30, 100, 70] as const;
  const place = {
    images: protocol.prompt(photo).user.flatMap((p) => (p.kind === 'image' ? [p.name] : [])),
    videos: [],
    before: [],
  };
  const look = protocol.hand?.look?.({ kind: 'look', box }, place);
  if (look === undefined) throw new Error(`${protocol.name} cannot look.`);
  return [protocol.write(look, 'Hm.'), protocol.write({ kind: 'answer', answer: 'STOP' }, 'So.')];
}

/** How many assistant messages a request holds: the turn that is asked for. */
const turnOf = ({ messages }: SentRequest): number =>
  messages.filter(({ role }) => role === 'assistant').length;

const imagesIn = ({ messages }: SentRequest): number =>
  messages
    .flatMap(({ content }) => (typeof content === 'string' ? [] : (content ?? [])))
    .filter(({ type }) => type === 'image_url').length;

function play(sampler: Awaited<ReturnType<typeof openChatPlayer>>, protocol: Protocol) {
  return rollout(sampler, createToolEnv({ protocol, sandbox }), photo, budgets);
}

describe('a chat player', () => {
  for (const name of ['pyvision-image', 'codedance', 'codev', 'codevision', 'vista'] as const) {
    it(`plays ${name} in the real sandbox and is shown what its tools show`, async () => {
      const protocol = protocols.get(name);
      const script = looks(protocol);
      const { server, sampler } = await player((request) => ({
        say: script[turnOf(request)] ?? 'over',
      }));
      const trajectory = await play(sampler, protocol);
      expect(trajectory.stopReason).toBe('answered');
      expect(trajectory.answer).toMatch(/STOP/);
      expect(trajectory.turns.map(({ result }) => result?.imageCount)).toEqual([1, undefined]);
      checkTrajectory(trajectory, { imageToken: sampler.processor.imageToken });
      expect(server.requests.map(imagesIn)).toEqual([1, 2]);
      const roles = server.requests[1]?.messages
        .map(({ role }) => role)
        .filter((r) => r !== 'system');
      expect(roles).toEqual(['user', 'assistant', 'user']);
      expect(server.requests[1]?.messages.at(-2)?.content).toBe(script[0]);
      expect(server.requests[0]?.stop ?? []).toEqual(protocol.stop);
      expect(sampler.usage()).toMatchObject({ requests: 2, unmetered: 0 });
    });
  }

  it('gives records that nothing trains on', async () => {
    const protocol = protocols.get('pyvision-image-short');
    const { sampler } = await player(() => ({ say: looks(protocol)[1] ?? '' }));
    const trajectory = await play(sampler, protocol);
    expect(trajectory.tokenSource).toBe('bytes');
    expect(trajectory.segments.flatMap(({ logprobs }) => [...(logprobs ?? [])])).not.toContain(
      Number.NaN,
    );
    const packed = packTrajectories([{ trajectory } as never], { maxTokens: 1 << 20 } as never);
    await expect(packed).rejects.toThrow(/was made from text, not sampled/);
  });

  it('passes on how to sample, and other seeds to other samples of a task', async () => {
    const { server, sampler } = await player(() => ({ say: 'a7' }));
    await runRollouts(sampler, () => new LookEnv(), [taskOf('t')], {
      ...{ ...budgets, groupSize: 4, temperature: 0.6, topP: 0.9, topK: 20, retries: 0 },
    });
    for (const request of server.requests) {
      expect(request).toMatchObject({ temperature: 0.6, top_p: 0.9, top_k: 20, max_tokens: 400 });
    }
    expect(new Set(server.requests.map(({ seed }) => seed)).size).toBe(4);
  });

  it('cuts what a server did not stop, and says why a reply ended', async () => {
    const long = 'word '.repeat(2000);
    const cases: [ServerScript, string, string | RegExp][] = [
      [() => ({ say: '<code>x</code> more', ignoresStop: true }), 'stop', '<code>x</code>'],
      [() => ({ say: '<code>x' }), 'stop', '<code>x</code>'],
      [() => ({ say: 'plain' }), 'endOfTurn', 'plain'],
      [() => ({ say: 'cut off', finish: 'length' }), 'length', 'cut off'],
      [() => ({ say: long }), 'length', /^(word )+$/],
      [
        () => ({ say: '', toolCalls: [{ name: 'crop', arguments: '{"x":1}' }] }),
        'endOfTurn',
        '<tool_call>\n{"name": "crop", "arguments": {"x":1}}\n</tool_call>',
      ],
    ];
    for (const [script, finish, text] of cases) {
      const { sampler } = await player(script);
      const { tokens, images } = sampler.processor.encodePrompt([{ kind: 'text', text: 'Go.' }]);
      const request: SampleRequest = {
        ...{ tokens, images, maxTokens: 100, stop: ['</code>'], temperature: 1 },
        ...{ seed: [1, 2], conversation: 'c' },
      };
      const result = await sampler.sample(request);
      expect(result.finish).toBe(finish);
      expect(result.text).toEqual(typeof text === 'string' ? text : expect.stringMatching(text));
      expect(result.tokens.length).toBeLessThanOrEqual(100);
      expect(sampler.processor.decode(result.tokens.filter((t) => t !== 0))).toBe(result.text);
    }
  });

  it('turns faults of a server into failures of trajectories, and nothing is lost', async () => {
    const script: ServerScript = (_, call) =>
      call % 3 === 0
        ? { status: 429, retryAfter: '0' }
        : call % 3 === 1
          ? { say: 'a', fault: 'break' }
          : { say: 'a7' };
    const { sampler } = await player(script, { retries: 5 });
    const tasks = ['a', 'b', 'c', 'd'].map(taskOf);
    const good = await runRollouts(sampler, () => new LookEnv(), tasks, {
      ...budgets,
      groupSize: 2,
    });
    expect(good.failures).toEqual({});
    expect(
      good.groups.flatMap(({ trajectories }) => trajectories.map(({ answer }) => answer)),
    ).toEqual(new Array(8).fill('7'));
    const dead = await player(() => ({ status: 401, body: 'bad key' }));
    const bad = await runRollouts(dead.sampler, () => new LookEnv(), tasks, {
      ...{ ...budgets, groupSize: 1, retries: 0 },
    });
    expect(bad.failures).toEqual({ policy: 4 });
    const [first] = bad.groups[0]?.trajectories ?? [];
    expect(first?.failure?.message).toMatch(/answered 401: bad key/);
  });

  it('ends a request that hangs, and every request when it is disposed', async () => {
    const hang: ServerScript = () => ({ say: 'h', fault: 'hang' });
    const { sampler } = await player(hang, { idleSeconds: 0.05, retries: 1 });
    const result = await runRollouts(sampler, () => new LookEnv(), [taskOf('t')], {
      ...{ ...budgets, groupSize: 1, retries: 0 },
    });
    const [trajectory] = result.groups[0]?.trajectories ?? [];
    expect(trajectory?.failure?.message).toMatch(/nothing for 0.05 s/);
    const patient = await player(hang);
    const playing = rollout(patient.sampler, new LookEnv(), taskOf('t'), budgets);
    setTimeout(() => void patient.sampler.dispose(), 30);
    expect((await playing).failure?.message).toMatch(/disposed/);
  });

  it('pays for nothing twice when it plays again after a kill', async () => {
    const cacheDirectory = mkdtempSync(join(tmpdir(), 'player-'));
    const { server, sampler } = await player((_, call) => ({ say: `a${call}` }), {
      cacheDirectory,
    });
    const options = { ...budgets, groupSize: 3 };
    const tasks = ['a', 'b'].map(taskOf);
    const once = await runRollouts(sampler, () => new LookEnv(), tasks, options);
    const again = await openChatPlayer({
      baseUrl: server.baseUrl,
      model: 'teacher',
      cacheDirectory,
    });
    const twice = await runRollouts(again, () => new LookEnv(), tasks, options);
    expect(twice.groups).toEqual(once.groups);
    expect(server.requests).toHaveLength(6);
    expect(again.usage()).toMatchObject({ requests: 0, cached: 6 });
  });
});

describe('`saccade serve policy` as the server', () => {
  const protocol = protocols.get('pyvision-image-short');
  let listening: ServerType;
  let baseUrl: string;
  beforeAll(async () => {
    const processor = new QwenProcessor(trainTokenizer([...looks(protocol)], 400), {
      ...{ ...qwenImageProcessor, minPixels: 28 * 28, maxPixels: 56 * 56 },
    });
    const script = looks(protocol);
    const app = policyService({
      policy: {
        ...{ version: 0, processor, release: () => {}, load: async () => {} },
        async sample({ tokens, images, onToken }) {
          // One image more in the context for each look.
          const text = script[images.length - 1] ?? '';
          const said = processor.encodeModelText(text, false);
          for (const token of said) onToken?.(token);
          expect(tokens.filter((token) => token === processor.imageToken).length).toBe(
            images.reduce((sum, { tokenCount }) => sum + tokenCount, 0),
          );
          const finish = text.endsWith('</code>') ? 'stop' : 'endOfTurn';
          return {
            tokens: said,
            logprobs: new Float32Array(said.length),
            text,
            finish,
            policyVersion: 0,
          };
        },
      },
    });
    await new Promise<void>((resolve) => {
      listening = serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' }, () => resolve());
    });
    baseUrl = `http://127.0.0.1:${(listening.address() as AddressInfo).port}/v1`;
  });
  afterAll(() => listening.close());

  for (const streams of [true, false]) {
    it(`gives the turns of the policy, ${streams ? 'streamed' : 'whole'}, stop string included`, async () => {
      const sampler = await openChatPlayer({ baseUrl, model: 'any', streams });
      const trajectory = await play(sampler, protocol);
      const said = trajectory.segments
        .filter(({ kind }) => kind === 'model')
        .map(({ text }) => text);
      expect(said).toEqual(looks(protocol));
      expect(trajectory.answer).toBe('\\boxed{STOP}');
      expect(sampler.usage()).toMatchObject({ requests: 2, unmetered: 0 });
    });
  }
});

describe('a baseline', () => {
  const outcome = async (prompting: Parameters<typeof withPrompting>[1], say: string) => {
    const { server, sampler } = await player(() => ({ say }));
    const trajectory: Trajectory = await play(
      sampler,
      withPrompting(protocols.get('vista'), prompting),
    );
    const [request] = server.requests;
    return { trajectory, text: request === undefined ? '' : sentText(request), request };
  };

  it('without tools is shown no tool, may not use one, and answers in the protocol’s form', async () => {
    const answer = protocols.get('vista').write({ kind: 'answer', answer: 'STOP' });
    for (const prompting of ['direct', 'reasoning'] as const) {
      const { trajectory, text, request } = await outcome(prompting, answer);
      expect(trajectory).toMatchObject({ stopReason: 'answered', answer: 'STOP' });
      expect(text).toContain(photo.question);
      expect(text).toContain('<answer>your answer</answer>');
      expect(text).not.toMatch(/image_zoom_in_tool/);
      expect(imagesIn(request as SentRequest)).toBe(1);
    }
    const [call = ''] = looks(protocols.get('vista'));
    expect((await outcome('direct', call)).trajectory.stopReason).toBe('turnLimit');
  });

  it('with tools gets the protocol’s prompt, with or without thoughts', async () => {
    const answer = protocols.get('vista').write({ kind: 'answer', answer: 'STOP' });
    const plain = await outcome('protocol', answer);
    const tools = await outcome('tools', answer);
    const both = await outcome('both', answer);
    expect(tools.text).toContain('Do not reason aloud');
    expect(both.text).toContain('think step by step');
    for (const { text } of [tools, both]) expect(text.startsWith(plain.text)).toBe(true);
  });
});
