/** Mistakes that are put into actions are errors in the real environments. */
import { join } from 'node:path';
import { randomAt } from '@saccade/core';
import { createToolEnv, protocols, stepAction, type Task } from '@saccade/gym';
import type { SampleRequest, SampleResult, Sampler } from '@saccade/policy';
import { rollout } from '@saccade/rollout';
import { ChatProcessor } from '@saccade/rollout/chat-player';
import { ensurePython, type LocalSandbox, openSandbox } from '@saccade/sandbox';
import { coordinateImage } from '@saccade/sandbox/contract';
import type { Action } from '@saccade/trajectory';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { mistaken, mistakenInTurn, mistakes, stumbling } from './inject-error.ts';

const environment = join(import.meta.dirname, '../../../.cache/sandbox-venv');
const task: Task = {
  id: 'photo',
  question: 'What is it?',
  images: [{ name: 'image_clue_0', png: coordinateImage(160, 120), width: 160, height: 120 }],
  answer: 'STOP',
  metadata: {},
};
let sandbox: LocalSandbox;
beforeAll(async () => {
  sandbox = await openSandbox({ python: (await ensurePython(environment)).python });
}, 300_000);
afterAll(() => sandbox.dispose());

const steps = [
  { kind: 'look', box: [40, 30, 100, 70] },
  { kind: 'turn', tool: 'rotate_90' },
] as const;

describe('a mistake', () => {
  for (const name of ['codevision', 'codedance', 'vista'] as const) {
    it(`in ${name} is answered by an error, and the right step still runs after it`, async () => {
      const protocol = protocols.get(name);
      const images = protocol
        .prompt(task)
        .user.flatMap((p) => (p.kind === 'image' ? [p.name] : []));
      let tried = 0;
      for (const step of steps) {
        const action = stepAction(protocol, step, { images, videos: [], before: [] });
        for (const mistake of mistakes) {
          const wrong = mistaken(action as Extract<Action, { kind: 'code' | 'toolCall' }>, mistake);
          if (wrong === undefined) continue;
          tried++;
          const env = createToolEnv({ protocol, sandbox });
          await env.reset(task);
          const failed = await env.step(protocol.write(wrong));
          expect([mistake, failed.result?.kind]).not.toEqual([mistake, 'ok']);
          expect(failed.observation).toBeDefined();
          expect((await env.step(protocol.write(action))).result?.kind).toBe('ok');
          await env.dispose();
        }
      }
      expect(tried).toBeGreaterThanOrEqual(name === 'vista' ? 4 : 7);
    });
  }

  it('is chosen by the random address alone', () => {
    const action = { kind: 'code', code: 'image.crop((1, 2, 3, 4)).show()' } as const;
    const once = mistakenInTurn(action, randomAt(1, 'a'));
    expect(mistakenInTurn(action, randomAt(1, 'a'))).toEqual(once);
    expect(once.map(({ mistake }) => mistake).sort()).toEqual(
      ['badArgument', 'misspelledName', 'missingImport', 'syntax'].sort(),
    );
  });
});

describe('a sampler that stumbles', () => {
  it('gets the first tool call of every conversation wrong, and nothing else', async () => {
    const protocol = protocols.get('codevision');
    const processor = new ChatProcessor({ pixelsPerToken: 784, maxTokens: 1280 });
    const images = protocol.prompt(task).user.flatMap((p) => (p.kind === 'image' ? [p.name] : []));
    const call = stepAction(protocol, steps[0], { images, videos: [], before: [] });
    const script = [call, call, { kind: 'answer', answer: 'STOP' } as const];
    const turns = new Map<string, number>();
    const scripted: Sampler = {
      ...{ version: 0, processor, release: () => {} },
      async sample({ conversation }: SampleRequest): Promise<SampleResult> {
        const turn = turns.get(conversation) ?? 0;
        turns.set(conversation, turn + 1);
        const text = protocol.write(script[turn] as Action);
        const tokens = processor.encodeModelText(text, true);
        const logprobs = new Float32Array(tokens.length);
        return { tokens, logprobs, text, finish: 'endOfTurn', policyVersion: 0 };
      },
    };
    const sampler = stumbling(scripted, protocol, 1);
    for (const stream of ['a', 'b']) {
      const trajectory = await rollout(sampler, createToolEnv({ protocol, sandbox }), task, {
        ...{ stream, seed: 1, maxTokensPerTurn: 1000, maxContextTokens: 10_000 },
      });
      const kinds = trajectory.turns.map(({ result }) => result?.kind);
      expect(kinds[0]).not.toBe('ok');
      expect(kinds.slice(1)).toEqual(['ok', undefined]);
      expect(trajectory.answer).toBe('STOP');
    }
  });
});
