import { type ScoredTrajectory, TrajectoryBuilder } from '@saccade/trajectory';
import { describe, expect, it } from 'vitest';
import { rolloutMetrics, visualTokens } from './trajectory-metrics.ts';

/** A trajectory with images of so many tokens in the prompt, and in the answer to its one call. */
function trajectory(prompt: readonly number[], observed: readonly number[]): ScoredTrajectory {
  const imagesOf = (counts: readonly number[], first: number) =>
    counts.map((tokenCount, i) => {
      const size = { width: 28, height: 28, modelWidth: 28, modelHeight: 28 };
      return { name: `image_clue_${first + i}`, png: new Uint8Array(), tokenCount, ...size };
    });
  const builder = new TrajectoryBuilder({ id: 'a/0', taskId: 'a', sampleIndex: 0 });
  const tokens = (count: number) => new Int32Array(count + 1).fill(9);
  const sum = (counts: readonly number[]) => counts.reduce((all, count) => all + count, 0);
  const speak = (text: string) =>
    builder.model({
      tokens: Int32Array.of(2),
      logprobs: Float32Array.of(-1),
      text,
      policyVersion: 0,
    });
  builder.prompt({ tokens: tokens(sum(prompt)), images: imagesOf(prompt, 0), text: '?' });
  speak('code');
  const result = { kind: 'ok', stdout: '', stderr: '', imageCount: 1, wallMs: 1 } as const;
  builder.turn({ kind: 'code', code: 'code' }, result);
  const images = imagesOf(observed, prompt.length);
  builder.observation({ tokens: tokens(sum(observed)), images, text: 'seen' });
  speak('7');
  builder.turn({ kind: 'answer', answer: '7' });
  return { ...builder.finish('answered'), reward: 0, rewardTerms: {}, isCorrect: true };
}

describe('the mass that truncation kept', () => {
  it('is a mean over tokens, and absent where nothing was truncated', () => {
    const whole = trajectory([], []);
    expect(rolloutMetrics([{ trajectories: [whole] }])).not.toHaveProperty('sampling/kept_mass');
    const segments = whole.segments.map((segment, i) =>
      segment.kind === 'model'
        ? { ...segment, keptMass: Float32Array.of(i === 1 ? 0.5 : 1) }
        : segment,
    );
    const metrics = rolloutMetrics([{ trajectories: [{ ...whole, segments }, whole] }]);
    expect(metrics['sampling/kept_mass']).toBe(0.75);
  });
});

describe('visual tokens', () => {
  it('are those of all images in the context, given or fetched', () => {
    expect(visualTokens(trajectory([16, 4], [4, 1]))).toBe(25);
    expect(visualTokens(trajectory([], []))).toBe(0);
  });

  it('are reported as a mean over trajectories', () => {
    const trajectories = [trajectory([], [16]), trajectory([4], [1, 1])];
    expect(rolloutMetrics([{ trajectories }])['visual_tokens/mean']).toBe(11);
  });
});
