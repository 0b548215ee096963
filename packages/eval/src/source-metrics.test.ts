import { exact, makeContext, type ScoredGroupResult } from '@saccade/rewards';
import { TrajectoryBuilder } from '@saccade/trajectory';
import { expect, it } from 'vitest';
import { sourceMetrics } from './source-metrics.ts';

function group(
  taskId: string,
  outcomes: readonly (readonly [boolean, number])[],
): ScoredGroupResult {
  const trajectories = outcomes.map(([isCorrect, reward], sampleIndex) => {
    const builder = new TrajectoryBuilder({ id: `${taskId}/${sampleIndex}`, taskId, sampleIndex });
    builder.prompt({ tokens: Int32Array.of(1), images: [], text: '?' });
    builder.model({
      tokens: Int32Array.of(2),
      logprobs: Float32Array.of(-1),
      text: '7',
      policyVersion: 0,
    });
    builder.turn({ kind: 'answer', answer: '7' });
    return { ...builder.finish('answered'), reward, rewardTerms: {}, isCorrect };
  });
  const contexts = trajectories.map((trajectory) =>
    makeContext(trajectory, { answer: '7', metadata: {} }, { verifier: exact }),
  );
  return { scored: { taskId, trajectories }, contexts, failed: [] };
}

const task = (id: string, metadata: Readonly<Record<string, unknown>>) => {
  return { id, question: '?', images: [], answer: '7', metadata };
};

it('gives accuracy, reward, calls and share of each source, and nothing of tasks without one', () => {
  const tasks = [
    task('a', { source: 'charts' }),
    task('b', { source: 'charts' }),
    task('c', { source: 'my/maps' }),
    task('d', {}),
  ];
  const results = [
    group('a', [
      [true, 1],
      [false, 0],
    ]),
    group('b', [[true, 1.1]]),
    group('c', [[false, -1]]),
    group('d', [[true, 1]]),
  ];
  expect(sourceMetrics(results, tasks)).toEqual({
    'source/charts/accuracy': 2 / 3,
    'source/charts/reward': expect.closeTo(0.7, 10),
    'source/charts/tool_calls/mean': 0,
    'source/charts/share': 0.75,
    'source/my-maps/accuracy': 0,
    'source/my-maps/reward': -1,
    'source/my-maps/tool_calls/mean': 0,
    'source/my-maps/share': 0.25,
  });
  expect(sourceMetrics([], tasks)).toEqual({});
});
