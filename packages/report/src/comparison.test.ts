import type { MetricsRow } from '@saccade/run-store';
import { describe, expect, it } from 'vitest';
import { type ComparedRun, comparisonCharts, comparisonTable } from './comparison.ts';
import { drawComparison } from './comparison-charts.ts';

function runOf(label: string, accuracies: readonly number[]): ComparedRun {
  const evaluations = accuracies.map(
    (accuracy, i): MetricsRow => ({
      stage: 'evaluation',
      step: 5 + 10 * i,
      label: i === 0 ? 'sft' : `step-${10 * i}`,
      'eval/accuracy': accuracy,
      'eval/count': 200,
      'eval/tool_calls/mean': 1 + i,
      'eval/step_of_rl': 10 * i,
    }),
  );
  const steps = [6, 7].map(
    (step): MetricsRow => ({ stage: 'rl', step, reward: step / 10, entropy: 1 }),
  );
  return { label, metrics: [{ stage: 'sft', step: 5, loss: 1 }, ...steps, ...evaluations] };
}

const runs = [runOf('with <bonus>', [0.4, 0.7, 0.9]), runOf('without', [0.4, 0.35])];

describe('curves of several runs', () => {
  it('puts the evaluations of all runs over RL steps, a color a run', () => {
    const [accuracy] = comparisonCharts(runs);
    expect(accuracy?.series.map(({ color }) => color)).toEqual([1, 2]);
    expect(accuracy?.series[0]?.points.map(({ x, y }) => [x, y])).toEqual([
      [0, 0.4],
      [10, 0.7],
      [20, 0.9],
    ]);
  });

  it('counts steps of learning from the end of the cold start', () => {
    const reward = comparisonCharts(runs).find(({ title }) => title === 'Reward in training');
    expect(reward?.series[0]?.points).toEqual([
      { x: 1, y: 0.6 },
      { x: 2, y: 0.7 },
    ]);
  });

  it('says in a table where each run began and ended', () => {
    const [, , first, second] = comparisonTable(runs).split('\n');
    expect(first).toMatch(
      /with <bonus> +\| 40\.0 % +\| 90\.0 % +\| \+50\.0 +\| 1\.00 → 3\.00 +\| 0\.650 +\| 2/,
    );
    expect(second).toMatch(/without +\| 40\.0 % +\| 35\.0 % +\| −5\.0 +\| 1\.00 → 2\.00/);
  });

  it('shows dashes for a run that has not got so far', () => {
    const [, , row] = comparisonTable([{ label: 'new', metrics: [] }]).split('\n');
    expect(row).toMatch(/new +\| – +\| – +\| – +\| – → – +\| – +\| 0/);
  });

  it('leaves steps out of the mean reward in which no rollout ended', () => {
    const metrics = [
      { stage: 'rl', step: 1, reward: 0.5 },
      { stage: 'rl', step: 2 },
    ] as const;
    const [, , row] = comparisonTable([{ label: 'streams', metrics }]).split('\n');
    expect(row).toMatch(/\| 0\.500 +\| 2/);
  });

  it('draws all of it as one SVG with names escaped', () => {
    const image = drawComparison([...runs, { label: 'new', metrics: [] }]);
    expect(image).toContain('with &lt;bonus&gt;');
    expect(image.match(/<svg /g)).toHaveLength(5);
    expect(image).not.toMatch(/NaN|Infinity|undefined/);
  });

  it('says so where no run has values', () => {
    expect(drawComparison([{ label: 'new', metrics: [] }])).toContain('No values were recorded');
  });
});
