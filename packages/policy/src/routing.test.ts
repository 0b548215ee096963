/** Experts that are recorded, and replayed. */
import { nativeBackend } from '@saccade/backend-native';
import { openDevice } from '@saccade/ops';
import { afterAll, describe, expect, it } from 'vitest';
import { qwen3_vl_moe } from './architectures/qwen3_vl_moe.ts';
import { nanoSize } from './models/model-size.ts';
import { createLocalPolicy } from './open-policy.ts';
import { qwen3NanoProcessor } from './processor/nano-processor.ts';

const device = openDevice(nativeBackend({ threads: 2 }));
const { processor, tokens } = qwen3NanoProcessor({
  corpus: [],
  vocabulary: 300,
  minPixels: 1024,
  maxPixels: 4096,
});
const size = { ...nanoSize, layers: 4, hidden: 32, heads: 2, kvHeads: 1, intermediate: 16 };
// Layers 1 and 3 have experts by the step, and 1 has not by its number.
const model = qwen3_vl_moe.model({
  ...qwen3_vl_moe.nano(processor.codec.vocabSize, tokens, size),
  sparseStep: 2,
  denseLayers: [1],
});
const policy = createLocalPolicy({ device, model, processor, seed: 1 });
afterAll(() => {
  policy.dispose();
  device.dispose();
});

const prompt = processor.encodeModelText('Which digit is hidden?', true);
const answer = processor.encodeModelText('Seven', true);
const batchOf = (experts?: ReadonlyMap<number, Int32Array>) => ({
  segments: [
    { tokens: prompt, images: [], parent: -1 },
    { tokens: answer, images: [], parent: 0, ...(experts && { experts }) },
  ],
  rows: Int32Array.from(answer, (_, i) => prompt.length - 1 + i),
  targets: answer,
});

describe('experts', () => {
  it('are recorded for the layers that have some, two of eight for a token', async () => {
    const { experts } = await policy.score(batchOf(), 1, { experts: true });
    expect([...(experts?.keys() ?? [])]).toEqual([3]);
    const chosen = experts?.get(3) as Int32Array;
    expect(chosen).toHaveLength(2 * (prompt.length + answer.length));
    for (let t = 0; t < chosen.length; t += 2) {
      expect(chosen[t]).not.toBe(chosen[t + 1]);
      expect(Math.min(chosen[t] as number, chosen[t + 1] as number)).toBeGreaterThanOrEqual(0);
      expect(Math.max(chosen[t] as number, chosen[t + 1] as number)).toBeLessThan(8);
    }
    expect((await policy.score(batchOf())).experts).toBeUndefined();
  });

  it('are replayed in the segments that bring them, bit for bit', async () => {
    const plain = await policy.score(batchOf(), 1, { experts: true });
    const own = plain.experts?.get(3)?.slice(2 * prompt.length) as Int32Array;
    const same = await policy.score(batchOf(new Map([[3, own]])));
    expect(same.logprobs).toEqual(plain.logprobs);
    const others = own.map((expert) => (expert + 1) % 8);
    const moved = await policy.score(batchOf(new Map([[3, others]])), 1, { experts: true });
    expect(moved.experts?.get(3)?.slice(2 * prompt.length)).toEqual(others);
    expect(moved.experts?.get(3)?.slice(0, 2 * prompt.length)).toEqual(
      plain.experts?.get(3)?.slice(0, 2 * prompt.length),
    );
    // The first row is the prompt's last token, which the router still decides.
    expect(moved.logprobs[0]).toBe(plain.logprobs[0]);
    expect(moved.logprobs[1]).not.toBe(plain.logprobs[1]);
  });

  it('must be as many as the tokens ask for', async () => {
    const short = new Map([[3, new Int32Array(2 * answer.length - 1)]]);
    await expect(policy.score(batchOf(short))).rejects.toThrow();
  });
});
