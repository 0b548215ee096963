import type { MetricsRow } from '@saccade/run-store';
import { describe, expect, it } from 'vitest';
import { chartsOf } from './curves.ts';

const rows = (metrics: Readonly<Record<string, number>>): readonly MetricsRow[] =>
  [1, 2].map((step) => ({ step, stage: 'rl', ...metrics }) as unknown as MetricsRow);

const errorsOf = (metrics: readonly MetricsRow[]) =>
  chartsOf(metrics).find(({ title }) => title === 'Errors of tool use');

describe('the chart of errors', () => {
  it('has a line for each kind that occurs', () => {
    const chart = errorsOf(rows({ 'errors/E1': 0, 'errors/E4': 0.5, 'errors/E6': 0.25 }));
    expect(chart?.series.map(({ label }) => label)).toEqual(['E4: wrong content', 'E6: reasoning']);
    expect(chart?.series[0]?.points.map(({ y }) => y)).toEqual([0.5, 0.5]);
  });

  it('is left out where a run has logged no errors', () => {
    expect(errorsOf(rows({ accuracy: 1 }))).toBeUndefined();
    expect(errorsOf(rows({ 'errors/E1': 0 }))).toBeUndefined();
  });
});
