import { DataError, StateError } from '@saccade/core';
import type { Device } from '@saccade/ops';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { contractRequest, scoringBatch, squares } from '../contract.ts';
import type { LocalPolicy } from '../local-policy.ts';
import type { SampleRequest } from '../policy.ts';
import {
  noiseImage,
  referenceDevice,
  tinyConfig,
  tinyPolicy,
  tinyProcessor,
} from '../tiny-policy.fixture.ts';

const { imageToken } = tinyConfig;

function promptOf(text: string, ...imageSeeds: readonly number[]) {
  return tinyProcessor.encodePrompt([
    { kind: 'text', text },
    ...imageSeeds.map((seed) => ({ kind: 'image', image: noiseImage(84, 56, seed) }) as const),
  ]);
}

function then(before: ArrayLike<number>, ...more: readonly ArrayLike<number>[]): Int32Array {
  return Int32Array.from([before, ...more].flatMap((tokens) => Array.from(tokens)));
}

/** A policy whose logits of one token are 30 times as large, of either sign. */
async function policyThatFavors(device: Device, token: number): Promise<LocalPolicy> {
  const policy = tinyPolicy(device);
  const table = policy.parameters['model.embed_tokens.weight'];
  const values = Float32Array.from((await table?.read()) ?? []);
  const { hidden } = tinyConfig;
  for (let at = token * hidden; at < (token + 1) * hidden; at++) {
    values[at] = (values[at] as number) * 30;
  }
  table?.write(values);
  return policy;
}

/** The text of one token. */
function pieceOf(tokens: Int32Array, index: number): string {
  return tinyProcessor.decode(tokens.subarray(index, index + 1));
}

describe('the generation engine', () => {
  let device: Device;
  let policy: LocalPolicy;
  beforeAll(() => {
    device = referenceDevice();
    policy = tinyPolicy(device);
  });
  afterAll(() => {
    policy.dispose();
    device.dispose();
  });

  it('takes an image placeholder that the model sampled as an ordinary token', async () => {
    const odd = await policyThatFavors(device, imageToken);
    const prompt = promptOf('Look', 1);
    const results = await Promise.all(
      [0, 1, 2, 3].map((i) => odd.sample(contractRequest(prompt, `odd-${i}`, i))),
    );
    const sampled = results.flatMap(({ tokens }) => Array.from(tokens));
    expect(sampled).toContain(imageToken);
    const { logprobs } = await odd.score(scoringBatch(prompt, results, true));
    expect(logprobs).toEqual(
      Float32Array.from(results.flatMap((result) => Array.from(result.logprobs))),
    );
    const observation = tinyProcessor.encodeObservation(
      [{ kind: 'image', image: noiseImage(56, 56, 2) }],
      false,
    );
    const [first] = results;
    const next = {
      tokens: then(prompt.tokens, first?.tokens ?? [], observation.tokens),
      images: [...prompt.images, ...observation.images],
    };
    const reused = await odd.sample(contractRequest(next, 'odd-0', 9));
    expect(await odd.sample(contractRequest(next, 'odd-new', 9))).toEqual(reused);
    odd.dispose();
  });

  it('refuses an image without placeholders, and no other request fails', async () => {
    const good = contractRequest(promptOf('fine', 1), 'good', 1);
    const alone = await policy.sample(good);
    policy.release('good');
    const forgotten = { tokens: promptOf('forgot').tokens, images: [noiseImage(56, 56, 1)] };
    const bad = policy.sample(contractRequest(forgotten, 'bad', 1));
    const together = policy.sample(good);
    await expect(bad).rejects.toThrow(DataError);
    expect(await together).toEqual(alone);
    policy.release('good');
    expect(policy.usedCacheSlots).toBe(0);
  });

  it('keeps a released prefix for the conversations that continue it', async () => {
    const prompt = promptOf('shared', 3);
    const request = (conversation: string) =>
      contractRequest(prompt, conversation, 5, { sharedPrefix: 'group' });
    const first = await policy.sample(request('kept'));
    policy.release('group');
    // Fills the pages that would have been given back too early.
    const others = [0, 1, 2].map((i) => promptOf(`another prompt ${i}`, 10 + i));
    await Promise.all(others.map((p, i) => policy.sample(contractRequest(p, `other-${i}`, i))));
    const next = { ...prompt, tokens: then(prompt.tokens, first.tokens, [20, 21, 22]) };
    const reused = await policy.sample(contractRequest(next, 'kept', 6));
    expect(await policy.sample(contractRequest(next, 'anew', 6))).toEqual(reused);
    for (const key of ['kept', 'anew', 'other-0', 'other-1', 'other-2']) policy.release(key);
    expect(policy.usedCacheSlots).toBe(0);
  });

  it('shares no prefix that ends within an image', async () => {
    const { tokens, images } = promptOf('', 6);
    const { imageToken } = tinyProcessor.tokens;
    const image = tokens.indexOf(imageToken);
    const cut = {
      tokens: tokens.slice(0, tokens.lastIndexOf(imageToken) + 2),
      images,
    };
    const alone = await policy.sample(contractRequest(cut, 'alone', 5));
    for (const length of [image, image + 1, cut.tokens.length - 1, cut.tokens.length]) {
      const request = contractRequest(cut, 'cut', 5);
      const sharedPrefix = { key: `prefix of ${length}`, length };
      expect(await policy.sample({ ...request, sharedPrefix })).toEqual(alone);
      for (const key of ['cut', sharedPrefix.key]) policy.release(key);
    }
    policy.release('alone');
    expect(policy.usedCacheSlots).toBe(0);
  });

  it('recomputes a conversation whose image changed under the same tokens', async () => {
    const before = promptOf('same text', 4);
    const after = promptOf('same text', 5);
    expect(after.tokens).toEqual(before.tokens);
    const first = await policy.sample(contractRequest(before, 'swap', 1));
    const tokens = then(before.tokens, first.tokens, [20]);
    const swapped = await policy.sample(
      contractRequest({ tokens, images: after.images }, 'swap', 2),
    );
    policy.release('swap');
    const fresh = await policy.sample(contractRequest({ tokens, images: after.images }, 'swap', 2));
    expect(swapped).toEqual(fresh);
    policy.release('swap');
  });

  it('refuses a prefix key that stands for another image', async () => {
    const request = (seed: number, key: string) =>
      contractRequest(promptOf('same text', seed), key, 1, { sharedPrefix: 'one' });
    const good = policy.sample(request(4, 'a'));
    const bad = policy.sample(request(5, 'b'));
    await expect(bad).rejects.toThrow('begins differently from the prefix "one"');
    await good;
    for (const key of ['a', 'b', 'one']) policy.release(key);
    expect(policy.usedCacheSlots).toBe(0);
  });

  it('answers one request of a conversation at a time', async () => {
    const request = contractRequest(promptOf('twice'), 'twice', 1);
    const first = policy.sample(request);
    await expect(policy.sample(request)).rejects.toThrow(StateError);
    await first;
    policy.release('twice');
  });

  it('does not let the weights change under a running request', async () => {
    const prompt = promptOf('busy');
    const result = await policy.sample(contractRequest(prompt, 'busy', 1));
    const batch = scoringBatch(prompt, [result], true);
    await policy.forwardBackward(batch, squares);
    const running = policy.sample(contractRequest(prompt, 'running', 1));
    await expect(policy.optimizerStep({ learningRate: 1 })).rejects.toThrow(StateError);
    expect((await running).logprobs).toEqual(result.logprobs);
    expect((await policy.score(batch)).logprobs).toEqual(result.logprobs);
    expect(policy.version).toBe(0);
    for (const key of ['busy', 'running']) policy.release(key);
  });

  it('ends an aborted request with the reason, frees it, and goes on with the others', async () => {
    const abort = new AbortController();
    const request = contractRequest(promptOf('abort'), 'aborted', 1, { maxTokens: 500 });
    const aborted = policy.sample({ ...request, signal: abort.signal });
    const other = policy.sample(contractRequest(promptOf('other'), 'other', 1));
    setTimeout(() => abort.abort(new Error('enough')), 20);
    await expect(aborted).rejects.toThrow('enough');
    expect((await other).tokens.length).toBe(12);
    for (const key of ['aborted', 'other']) policy.release(key);
    expect(policy.usedCacheSlots).toBe(0);
  });

  it('lets requests wait while more others run, but not until they are done', async () => {
    const done: string[] = [];
    const ask = async (name: string, maxTokens: number) => {
      await policy.sample(contractRequest(promptOf(name), name, 1, { maxTokens }));
      policy.release(name);
      done.push(name);
    };
    const first = [ask('one', 150), ask('ten', 10), ask('three', 150)];
    // Once this one has its token, the others have begun.
    await policy.sample(contractRequest(promptOf('begun'), 'begun', 1, { maxTokens: 1 }));
    policy.release('begun');
    // Two wait until two are left: after ten passes.
    await Promise.all([ask('late', 3), ask('later', 3)]);
    expect([...done].sort()).toEqual(['late', 'later', 'ten']);
    expect(done[0]).toBe('ten');
    // One of its own waits for 64 passes.
    await ask('last', 3);
    expect(done).toHaveLength(4);
    await Promise.all(first);
  });

  it('stops after a stop string, at the end of the turn, or when the budget is used up', async () => {
    const prompt = promptOf('stop');
    const run = async (change: Partial<SampleRequest>, seed: number, from = policy) => {
      const result = await from.sample({ ...contractRequest(prompt, 'stops', seed), ...change });
      from.release('stops');
      return result;
    };
    const free = await run({ maxTokens: 6 }, 2);
    expect(free).toMatchObject({ finish: 'length', text: tinyProcessor.decode(free.tokens) });
    const index = free.tokens.findIndex((_, i) => /^[ -~]+$/.test(pieceOf(free.tokens, i)));
    const stop = pieceOf(free.tokens, index);
    const stopped = await run({ maxTokens: 6, stop: ['never', stop] }, 2);
    expect(stopped).toMatchObject({ finish: 'stop', text: expect.stringContaining(stop) });
    expect(stopped.tokens).toEqual(free.tokens.subarray(0, index + 1));
    const ending = await policyThatFavors(device, tinyProcessor.endOfTurn);
    const results = await Promise.all(
      [0, 1, 2, 3].map((seed) =>
        ending.sample({
          ...contractRequest(prompt, `end-${seed}`, seed),
          ignoreEndOfTurn: false,
        }),
      ),
    );
    const ended = results.filter(({ finish }) => finish === 'endOfTurn');
    expect(ended.length).toBeGreaterThan(0);
    for (const { tokens, text } of ended) {
      expect(tokens.indexOf(tinyProcessor.endOfTurn)).toBe(tokens.length - 1);
      expect(text).toBe(tinyProcessor.decode(tokens.subarray(0, -1)));
    }
    ending.dispose();
  });

  it('refuses what it cannot serve, with the values', async () => {
    const request = contractRequest(promptOf('bad'), 'bad', 1);
    const refused = async (change: Partial<SampleRequest>, message: string | RegExp) =>
      expect(policy.sample({ ...request, ...change })).rejects.toThrow(message);
    await refused({ tokens: Int32Array.of(1, 300) }, 'Token 1 is 300, it must be 0 to 299');
    await refused({ tokens: new Int32Array() }, 'at least one token');
    await refused({ maxTokens: 4096 }, /tokens and 4096 more exceed the model's 4096 positions/);
    await refused({ maxTokens: 1.5 }, 'maxTokens must be a whole number');
    await refused({ temperature: -1 }, 'temperature must be at least 0, got -1');
    await refused({ sharedPrefix: { key: 'k', length: 999 } }, 'sharedPrefix.length must be 0 to');
    const gone = tinyPolicy(device);
    gone.dispose();
    await expect(gone.sample(request)).rejects.toThrow('disposed');
  });

  it('gives the most likely token at temperature 0', async () => {
    const prompt = promptOf('greedy');
    const request = contractRequest(prompt, 'greedy', 1, { temperature: 0, maxTokens: 3 });
    const result = await policy.sample(request);
    const V = tinyConfig.vocabSize;
    const { logprobs } = await policy.score({
      segments: [{ ...prompt, parent: -1 }],
      rows: new Int32Array(V).fill(prompt.tokens.length - 1),
      targets: Int32Array.from({ length: V }, (_, token) => token),
    });
    expect(result.tokens[0]).toBe(logprobs.indexOf(Math.max(...logprobs)));
    expect(result.logprobs[0]).toBe(Math.max(...logprobs));
    policy.release('greedy');
  });

  it('refuses to score what is out of range', async () => {
    const tokens = Int32Array.of(9, 10);
    const score = (rows: number[], targets: number[], packed = tokens) =>
      policy.score({
        segments: [{ tokens: packed, images: [], parent: -1 }],
        rows: Int32Array.from(rows),
        targets: Int32Array.from(targets),
      });
    await expect(score([0, 2], [1, 1])).rejects.toThrow('Row 1 is 2, it must be 0 to 1');
    await expect(score([0], [300])).rejects.toThrow('Target 0 is 300, it must be -1 to 299');
    await expect(score([0], [1, 2])).rejects.toThrow('targets must have length 1, got 2');
    const negative = Int32Array.of(9, -1);
    await expect(score([0], [1], negative)).rejects.toThrow('Token 1 is -1, it must be 0 to 299');
    expect((await score([1], [-1])).logprobs).toEqual(Float32Array.of(0));
  });
});
