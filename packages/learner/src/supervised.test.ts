import type { LossFunction, PackedBatch, Processor } from '@saccade/policy';
import { ModelImages } from '@saccade/rollout';
import { type Trajectory, TrajectoryBuilder } from '@saccade/trajectory';
import { describe, expect, it } from 'vitest';
import { createSupervisedLearner } from './supervised.ts';

/** A prompt of one token, and an answer of `tokens`; a demonstration has no log-probs worth keeping. */
function demonstration(id: string, tokens: readonly number[]): Trajectory {
  const made = new TrajectoryBuilder({ id, taskId: id, sampleIndex: 0 });
  made.prompt({ tokens: Int32Array.of(1), images: [], text: '' });
  const logprobs = new Float32Array(tokens.length);
  made.model({ tokens: Int32Array.from(tokens), logprobs, text: '', policyVersion: 0 });
  made.turn({ kind: 'answer', answer: '' });
  return made.finish('answered');
}

/** A policy that gives token t the log-prob −t, and keeps every gradient by token. */
function recordingPolicy() {
  const gradients: [number, number][] = [];
  const rates: number[] = [];
  return {
    gradients,
    rates,
    async forwardBackward({ targets }: PackedBatch, loss: LossFunction) {
      const logprobs = Float32Array.from(targets, (token) => -token);
      const entropy = new Float32Array(targets.length).fill(0.5);
      const result = loss({ logprobs, entropy });
      targets.forEach((token, i) => {
        gradients.push([token, result.gradLogprobs[i] as number]);
      });
      return { loss: result.loss, logprobs, entropy };
    },
    async optimizerStep({ learningRate }: { readonly learningRate: number }) {
      rates.push(learningRate);
      return { gradNorm: 3, isSkipped: false };
    },
  };
}

const images = new ModelImages({} as Processor);
const long = { kind: 'long', examples: [demonstration('l', [2, 3, 4, 7])], perUpdate: 1 };
const short = { kind: 'short', examples: [demonstration('s', [5])], perUpdate: 1 };

describe('createSupervisedLearner', () => {
  it.each([8192, 1])(
    'averages every kind over its own tokens, at most %d tokens at a time',
    async (microBatchTokens) => {
      const policy = recordingPolicy();
      const schedule = (update: number) => 0.1 * update;
      const learner = createSupervisedLearner({
        policy,
        images,
        schedule,
        seed: 1,
        microBatchTokens,
      });
      const result = await learner.learn(
        [
          { ...long, examples: [...long.examples, demonstration('m', [9, 9])], perUpdate: 2 },
          short,
        ],
        3,
      );
      // (2 + 3 + 4 + 7 + 9 + 9) / 6, and 5 / 1.
      expect(result.losses.long).toBeCloseTo(34 / 6, 6);
      expect(result.losses.short).toBe(5);
      expect(result.loss).toBeCloseTo(34 / 6 + 5, 6);
      for (const [token, gradient] of policy.gradients) {
        expect(gradient).toBeCloseTo(token === 5 ? -1 : -1 / 6, 6);
      }
      expect(policy.gradients).toHaveLength(7);
      expect(policy.rates).toEqual([schedule(3)]);
      expect(result).toMatchObject({ entropy: 0.5, gradNorm: 3, tokenCount: 10, isSkipped: false });
    },
  );

  it('shows every example once per pass, each pass in another order, from any update on', async () => {
    const examples = Array.from({ length: 12 }, (_, i) => demonstration(`${i}`, [10 + i]));
    const shown = async (updates: readonly number[], seed = 1) => {
      const policy = recordingPolicy();
      const learner = createSupervisedLearner({ policy, images, schedule: () => 1, seed });
      for (const update of updates)
        await learner.learn([{ kind: 'a', examples, perUpdate: 4 }], update);
      return policy.gradients.map(([token]) => token);
    };
    const all = await shown([0, 1, 2, 3, 4, 5]);
    const passes = [all.slice(0, 12), all.slice(12)];
    for (const pass of passes) expect(new Set(pass).size).toBe(12);
    expect(passes[1]).not.toEqual(passes[0]);
    // A run that is resumed continues with the examples it would have seen.
    expect(await shown([4, 5])).toEqual(all.slice(16));
    expect(await shown([0, 1, 2], 2)).not.toEqual(passes[0]);
  });
});
