/** Weights that change while requests run. */
import type { Device } from '@saccade/ops';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { contractRequest, scoringBatch, squares } from '../contract.ts';
import { referenceDevice, tinyPolicy, tinyProcessor } from '../tiny-policy.fixture.ts';

describe('an optimizer step while requests run', () => {
  let device: Device;
  beforeAll(() => {
    device = referenceDevice();
  });
  afterAll(() => device.dispose());

  /** A request of 30 tokens that a step interrupts, scored by the weights before and after. */
  async function interrupted(inFlight: 'recompute' | 'keep') {
    const policy = tinyPolicy(device);
    const prompt = tinyProcessor.encodePrompt([{ kind: 'text', text: 'Which digit is hidden?' }]);
    const options = { maxTokens: 30, sharedPrefix: 'p' };
    const first = await policy.sample(contractRequest(prompt, 'first', 3, options));
    const before = await policy.score(scoringBatch(prompt, [first], true));
    await policy.forwardBackward(scoringBatch(prompt, [first], true), squares);
    const slots = policy.usedCacheSlots;
    const running = policy.sample(contractRequest(prompt, 'running', 4, options));
    while (policy.usedCacheSlots === slots) await new Promise((r) => setImmediate(r));
    await policy.optimizerStep({ learningRate: 0.02, inFlight });
    const result = await running;
    const batch = scoringBatch(prompt, [result], true);
    const after = (await policy.score(batch)).logprobs;
    for (const key of ['first', 'running', 'p']) policy.release(key);
    const usedCacheSlots = policy.usedCacheSlots;
    const anew = tinyPolicy(device);
    const old = (await anew.score(batch)).logprobs;
    policy.dispose();
    anew.dispose();
    expect(before.logprobs).toEqual(first.logprobs);
    return { result, old, after, usedCacheSlots };
  }

  /** Tokens at the start that are as the weights of `scores` say, bit for bit. */
  function agreement(logprobs: Float32Array, scores: Float32Array): number {
    const end = logprobs.findIndex((value, i) => value !== scores[i]);
    return end < 0 ? logprobs.length : end;
  }

  it('samples what follows as the new weights do from the same tokens, where it recomputes', async () => {
    const { result, old, after, usedCacheSlots } = await interrupted('recompute');
    const split = agreement(result.logprobs, old);
    expect(split).toBeGreaterThan(0);
    expect(split).toBeLessThan(30);
    expect(result.logprobs.slice(split)).toEqual(after.slice(split));
    expect(result.logprobs[split]).not.toBe(old[split]);
    expect(result.policyVersion).toBe(0);
    expect(usedCacheSlots).toBe(0);
  });

  it('lets fresh requests share the prefix of one that was recomputed', async () => {
    const policy = tinyPolicy(device);
    const prompt = tinyProcessor.encodePrompt([{ kind: 'text', text: 'Which digit is hidden?' }]);
    const request = (name: string, maxTokens: number) =>
      contractRequest(prompt, name, 3, { maxTokens, sharedPrefix: 'p' });
    const sampled = await policy.sample(request('running', 5));
    await policy.forwardBackward(scoringBatch(prompt, [sampled], true), squares);
    for (const key of ['running', 'p']) policy.release(key);
    const running = policy.sample(request('running', 30));
    while (policy.usedCacheSlots === 0) await new Promise((r) => setImmediate(r));
    const inFlight = 'recompute';
    await policy.optimizerStep({ learningRate: 0, inFlight });
    // Its prefix is as long as the prompt now, which a fresh request has to recompute the end of.
    const fresh = await Promise.all([1, 2].map((i) => policy.sample(request(`fresh-${i}`, 5))));
    expect((await running).tokens.subarray(0, 5)).toEqual(fresh[0]?.tokens);
    for (const key of ['running', 'fresh-1', 'fresh-2', 'p']) policy.release(key);
    expect(policy.usedCacheSlots).toBe(0);
    policy.dispose();
  });

  it('samples from new weights over the keys and values of the old, where it keeps them', async () => {
    const { result, old, after, usedCacheSlots } = await interrupted('keep');
    const split = agreement(result.logprobs, old);
    expect(split).toBeGreaterThan(0);
    expect(split).toBeLessThan(30);
    expect(result.logprobs[split]).not.toBe(after[split]);
    expect(usedCacheSlots).toBe(0);
  });
});
