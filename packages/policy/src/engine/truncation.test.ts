import type { Device } from '@saccade/ops';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { contractRequest, scoringBatch } from '../contract.ts';
import type { LocalPolicy } from '../local-policy.ts';
import type { SampleRequest } from '../policy.ts';
import { referenceDevice, tinyConfig, tinyPolicy, tinyProcessor } from '../tiny-policy.fixture.ts';

const prompt = tinyProcessor.encodePrompt([{ kind: 'text', text: 'Which digit?' }]);
const V = tinyConfig.vocabSize;

describe('truncated sampling', () => {
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

  async function sample(name: string, change: Partial<SampleRequest>, seed = 1) {
    const result = await policy.sample({ ...contractRequest(prompt, name, seed), ...change });
    policy.release(name);
    return result;
  }

  it('records log-probs that are the policy’s own divided by the mass that was kept', async () => {
    const result = await sample('own', { topP: 0.7, topK: 40 });
    const { logprobs } = await policy.score(scoringBatch(prompt, [result], true));
    const masses = result.keptMass ?? [];
    expect(masses).toHaveLength(12);
    result.logprobs.forEach((logprob, t) => {
      expect(masses[t]).toBeLessThan(1);
      expect(logprob + Math.log(masses[t] ?? 0)).toBeCloseTo(logprobs[t] ?? 0, 5);
    });
  });

  it('samples only what the filters keep: of the first token, the four most likely', async () => {
    const { logprobs } = await policy.score({
      segments: [{ ...prompt, parent: -1 }],
      rows: new Int32Array(V).fill(prompt.tokens.length - 1),
      targets: Int32Array.from({ length: V }, (_, token) => token),
    });
    const ranked = Array.from(logprobs.keys()).sort(
      (a, b) => (logprobs[b] ?? 0) - (logprobs[a] ?? 0),
    );
    const drawn = await Promise.all(
      Array.from({ length: 60 }, (_, i) => sample(`four-${i}`, { topK: 4, maxTokens: 1 }, i)),
    );
    expect(new Set(drawn.map(({ tokens }) => tokens[0]))).toEqual(new Set(ranked.slice(0, 4)));
    const kept = ranked.slice(0, 4).reduce((sum, j) => sum + Math.exp(logprobs[j] ?? 0), 0);
    for (const { keptMass } of drawn) expect(keptMass?.[0]).toBeCloseTo(kept, 5);
  });

  it('takes the most likely token where no other is kept, with log-prob 0', async () => {
    const greedy = await sample('greedy', { temperature: 0 });
    for (const filter of [{ topK: 1 }, { topP: 1e-6 }, { minP: 1 }]) {
      const result = await sample('one', filter);
      expect(result.tokens).toEqual(greedy.tokens);
      expect([...result.logprobs]).toEqual(Array(12).fill(0));
    }
  });

  it('gives a request the same bits beside others that are truncated otherwise', async () => {
    const ways: readonly Partial<SampleRequest>[] = [
      {},
      { topP: 0.9 },
      { topK: 10, minP: 0.05 },
      { topP: 0.9, temperature: 0.7 },
      { topK: 3, temperature: 0 },
    ];
    const alone = [];
    for (const [i, way] of ways.entries()) alone.push(await sample(`way-${i}`, way, i));
    const together = await Promise.all(ways.map((way, i) => sample(`way-${i}`, way, i)));
    expect(together).toEqual(alone);
    expect(alone.map(({ keptMass }) => keptMass !== undefined)).toEqual([
      false,
      true,
      true,
      true,
      false,
    ]);
  });

  it('refuses filters out of range, with the values', async () => {
    for (const [change, message] of [
      [{ topK: -1 }, 'topK must be a whole number of at least 0, got -1'],
      [{ topK: 2.5 }, 'topK must be a whole number of at least 0, got 2.5'],
      [{ topP: 0 }, 'topP must be above 0 and at most 1, got 0'],
      [{ topP: Number.NaN }, 'topP must be above 0 and at most 1, got NaN'],
      [{ minP: 1.1 }, 'minP must be 0 to 1, got 1.1'],
    ] as const) {
      await expect(sample('bad', change)).rejects.toThrow(message);
    }
  });
});
