/** What the engine computes once, how much it keeps, and that neither changes a bit. */

import { nativeBackend } from '@saccade/backend-native';
import { ConfigError } from '@saccade/core';
import { type Device, openDevice } from '@saccade/ops';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { contractRequest, scoringBatch, squares } from '../contract.ts';
import type { LocalPolicy } from '../local-policy.ts';
import type { SampleRequest, SampleResult } from '../policy.ts';
import { noiseImage, tinyConfig, tinyPolicy, tinyProcessor } from '../tiny-policy.fixture.ts';
import type { EngineSettings } from './engine-settings.ts';

/** Two pages of tokens and a part of one. */
const LONG = 'Which digit is hidden behind the second card from the left? '.repeat(2);

function promptOf(text: string, ...imageSeeds: readonly number[]) {
  return tinyProcessor.encodePrompt([
    ...imageSeeds.map((seed) => ({ kind: 'image', image: noiseImage(84, 56, seed) }) as const),
    { kind: 'text', text },
  ]);
}

describe('what the engine keeps', () => {
  let device: Device;
  const policies: LocalPolicy[] = [];
  beforeAll(() => {
    device = openDevice(nativeBackend({ threads: 1 }));
  });
  afterAll(() => {
    for (const policy of policies) policy.dispose();
    device.dispose();
  });

  function policyWith(settings: Partial<EngineSettings>): LocalPolicy {
    const policy = tinyPolicy(device);
    policy.configureEngine(settings);
    policies.push(policy);
    return policy;
  }

  /** Rows that a call computes. */
  async function rowsOf(policy: LocalPolicy, call: () => Promise<unknown>): Promise<number> {
    const before = policy.sampling.computedRows;
    await call();
    return policy.sampling.computedRows - before;
  }

  it('computes only the new tokens of a second turn', async () => {
    const policy = policyWith({});
    const prompt = promptOf(LONG, 1);
    const first = contractRequest(prompt, 'a', 1, { maxTokens: 5 });
    let sampled = new Int32Array();
    expect(
      await rowsOf(policy, async () => {
        sampled = (await policy.sample(first)).tokens.slice();
      }),
    ).toBe(prompt.tokens.length + 4);
    const seen = tinyProcessor.encodeObservation([{ kind: 'text', text: 'Now this.' }], false);
    const tokens = Int32Array.from([...prompt.tokens, ...sampled, ...seen.tokens]);
    const second = contractRequest({ tokens, images: prompt.images }, 'a', 2, { maxTokens: 3 });
    // The last sampled token was not an input yet.
    expect(await rowsOf(policy, () => policy.sample(second))).toBe(1 + seen.tokens.length + 2);
  });

  it('shares pages of conversations with the same content, which nobody told it', async () => {
    const prompt = promptOf(LONG, 1);
    const ask = (policy: LocalPolicy, i: number, of = prompt) =>
      policy.sample(contractRequest(of, `c${i}`, i, { maxTokens: 4 }));
    const alone: SampleResult[] = [];
    for (let i = 0; i < 5; i++) {
      const policy = policyWith({});
      alone.push(await ask(policy, i));
    }
    const policy = policyWith({});
    const T = prompt.tokens.length;
    const pages = Math.floor((T - 1) / 64);
    expect(pages).toBeGreaterThan(1);
    // At once: the first computes what the others read in the same pass.
    const together = async () => {
      const results = await Promise.all([0, 1, 2].map((i) => ask(policy, i)));
      expect(results).toEqual(alone.slice(0, 3));
    };
    expect(await rowsOf(policy, together)).toBe(T + 2 * (T - 64 * pages) + 9);
    const later = async () => expect(await ask(policy, 3)).toEqual(alone[3]);
    expect(await rowsOf(policy, later)).toBe(T - 64 * pages + 3);
    expect(policy.usedCacheSlots).toBe(64 * (pages + 4));
    // Another image under the same tokens shares nothing.
    const other = promptOf(LONG, 2);
    expect(other.tokens).toEqual(prompt.tokens);
    expect(await rowsOf(policy, () => ask(policy, 9, other))).toBe(T + 3);
    policy.release('c0');
    expect(await ask(policy, 4)).toEqual(alone[4]);
    for (const i of [1, 2, 3, 4, 9]) policy.release(`c${i}`);
    expect(policy.usedCacheSlots).toBe(0);
  });

  it('finds no pages of earlier weights', async () => {
    const policy = policyWith({});
    const prompt = promptOf(LONG);
    const request = contractRequest(prompt, 'old', 1, { maxTokens: 40 });
    const { tokens } = await policy.sample({ ...request, maxTokens: 2 });
    const result = { tokens, logprobs: new Float32Array(2), text: '', policyVersion: 0 };
    const batch = scoringBatch(prompt, [{ ...result, finish: 'length' }], true);
    await policy.forwardBackward(batch, squares);
    const running = policy.sample({ ...request, conversation: 'running' });
    await policy.optimizerStep({ learningRate: 0.01, inFlight: 'keep' });
    const anew = contractRequest(prompt, 'new', 3, { maxTokens: 6 });
    const found = await policy.sample(anew);
    await running;
    for (const key of ['old', 'running', 'new']) policy.release(key);
    expect(await policy.sample(anew)).toEqual(found);
  });

  it('gives the same bits whatever the size of a chunk', async () => {
    const prompts = [promptOf(LONG, 1, 2), promptOf('short'), promptOf(`Look. ${LONG}`, 3)];
    const results = [];
    for (const prefillChunkTokens of [4096, 64, 7, 1]) {
      const policy = policyWith({ prefillChunkTokens });
      const asked = prompts.flatMap((prompt, p) =>
        [0, 1].map((i) =>
          policy.sample(
            contractRequest(prompt, `${p}/${i}`, 10 * p + i, {
              maxTokens: 6,
              ...(p !== 1 && { sharedPrefix: `p${p}` }),
            }),
          ),
        ),
      );
      results.push(await Promise.all(asked));
    }
    for (const other of results.slice(1)) expect(other).toEqual(results[0]);
  });

  it('lets others decode between the chunks of a long prompt', async () => {
    for (const [prefillChunkTokens, first] of [
      [4096, 'long'],
      [16, 'short'],
    ] as const) {
      const policy = policyWith({ prefillChunkTokens });
      const done: string[] = [];
      const ask = async (name: string, text: string, maxTokens: number) => {
        await policy.sample(contractRequest(promptOf(text), name, 1, { maxTokens }));
        done.push(name);
      };
      await Promise.all([ask('short', 'a', 6), ask('long', LONG, 1)]);
      expect(done[0]).toBe(first);
    }
  });

  it('lets requests wait where the cache is full, and loses none', async () => {
    const prompts = [0, 1, 2, 3, 4].map((i) => promptOf(`${i} ${LONG}`));
    const requests = prompts.map((prompt, i) =>
      contractRequest(prompt, `c${i}`, i, { maxTokens: 70 }),
    );
    const unbounded = policyWith({});
    const expected = await Promise.all(requests.map((request) => unbounded.sample(request)));
    const pages = Math.ceil((prompts[0]?.tokens.length ?? 0) / 64);
    expect(unbounded.usedCacheSlots).toBeGreaterThan(5 * 64 * pages);
    // Two have room for their prompts and not for what they sample: one gives way to the other.
    const kvCacheTokens = 64 * (2 * pages + 1);
    const policy = policyWith({ kvCacheTokens });
    let most = 0;
    let isOver = false;
    const watch = (async () => {
      while (!isOver) {
        most = Math.max(most, policy.usedCacheSlots);
        await new Promise((resolve) => setImmediate(resolve));
      }
    })();
    expect(await Promise.all(requests.map((request) => policy.sample(request)))).toEqual(expected);
    isOver = true;
    await watch;
    expect(policy.sampling.computedRows).toBeGreaterThan(unbounded.sampling.computedRows);
    expect(most).toBeLessThanOrEqual(kvCacheTokens);
    expect(most).toBeGreaterThan(64 * 2 * pages - 1);
    // An idle conversation gave its pages to others, and is computed again.
    const [prompt, answer] = [prompts[0]?.tokens ?? [], expected[0]?.tokens ?? []];
    const tokens = Int32Array.from([...prompt, ...answer, 20, 21]);
    const next = contractRequest({ tokens, images: [] }, 'c0', 9, { maxTokens: 3 });
    expect(await policy.sample(next)).toEqual(await unbounded.sample(next));
    const over = policy.sample({ ...(requests[0] as SampleRequest), maxTokens: 600 });
    await expect(over).rejects.toThrow(ConfigError);
    await expect(over).rejects.toThrow(/which has policy\.kvCacheTokens = \d+\. Raise it/);
  });

  it('shares a bounded cache among conversations on one prefix', async () => {
    const prompt = promptOf(LONG, 1);
    const requests = [0, 1, 2, 3].map((i) =>
      contractRequest(prompt, `g${i}`, i, { maxTokens: 70, sharedPrefix: 'group' }),
    );
    const unbounded = policyWith({});
    const expected = await Promise.all(requests.map((request) => unbounded.sample(request)));
    const policy = policyWith({ kvCacheTokens: 64 * 6, prefillChunkTokens: 50 });
    expect(await Promise.all(requests.map((request) => policy.sample(request)))).toEqual(expected);
    for (const key of ['g0', 'g1', 'g2', 'g3', 'group']) policy.release(key);
    expect(policy.usedCacheSlots).toBe(0);
  });

  it('shares no prefix where the page that it ends in is one too many', async () => {
    const prompt = promptOf(LONG, 1);
    const request = contractRequest(prompt, 'c', 2, { maxTokens: 70, sharedPrefix: 'group' });
    const kvCacheTokens = 64 * Math.ceil((prompt.tokens.length + 70) / 64);
    const expected = await policyWith({}).sample(request);
    const policy = policyWith({ kvCacheTokens });
    expect(await policy.sample(request)).toEqual(expected);
    policy.release('c');
    expect(policy.usedCacheSlots).toBe(0);
  });

  it('keeps keys and values in bf16, close to the log-probs of training, in half the memory', async () => {
    const prompt = promptOf(LONG, 1);
    const requests = [0, 1, 2].map((i) => contractRequest(prompt, `h${i}`, i, { maxTokens: 20 }));
    const bytes: number[] = [];
    for (const kvCache of ['f32', 'bf16'] as const) {
      const policy = policyWith({ kvCache, imageCacheMebibytes: 0 });
      const before = device.allocatedBytes();
      const results = await Promise.all(requests.map((request) => policy.sample(request)));
      bytes.push(device.allocatedBytes() - before);
      const { logprobs } = await policy.score(scoringBatch(prompt, results, true));
      const sampled = results.flatMap((result) => Array.from(result.logprobs));
      const off = sampled.map((logprob, i) => Math.abs(logprob - (logprobs[i] ?? 0)));
      expect(Math.max(...off)).toBeLessThan(kvCache === 'f32' ? 1e-12 : 0.02);
      if (kvCache === 'bf16') expect(Math.max(...off)).toBeGreaterThan(0);
      // The same alone as together.
      for (const key of ['h0', 'h1', 'h2']) policy.release(key);
      expect(await policy.sample(requests[1] as SampleRequest)).toEqual(results[1]);
    }
    expect(bytes[1]).toBe((bytes[0] ?? 0) / 2);
  });

  it('runs the vision tower once on an image, as far as its memory goes', async () => {
    const ask = async (policy: LocalPolicy, name: string, ...seeds: readonly number[]) => {
      const before = policy.sampling.computedImages;
      const prompt = promptOf(name, ...seeds);
      const result = await policy.sample(contractRequest(prompt, name, 1, { maxTokens: 3 }));
      return { result, computed: policy.sampling.computedImages - before };
    };
    const [kept, bare] = [policyWith({}), policyWith({ imageCacheMebibytes: 0 })];
    for (const [name, seeds, computed] of [
      ['one', [1], 1],
      ['again', [1], 0],
      ['more', [2, 1, 2, 3], 2],
      ['all', [3, 2, 1], 0],
    ] as const) {
      const found = await ask(kept, name, ...seeds);
      expect([name, found.computed]).toEqual([name, computed]);
      expect(found.result).toEqual((await ask(bare, name, ...seeds)).result);
    }
    expect((await ask(bare, 'bare', 1)).computed).toBe(1);
    // An image has six features.
    expect(tinyConfig.hidden * 6 * 4).toBeLessThan(2 ** 20);
    await kept.score(scoringBatch(promptOf('one', 1), [(await ask(kept, 'x', 1)).result], true));
    const batch = scoringBatch(promptOf('y', 1), [(await ask(kept, 'y', 1)).result], true);
    await kept.forwardBackward(batch, squares);
    await kept.optimizerStep({ learningRate: 0.01 });
    expect((await ask(kept, 'new weights', 1)).computed).toBe(1);
  });
});
