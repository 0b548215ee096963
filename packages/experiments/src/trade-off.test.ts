import type { MetricsRow } from '@saccade/run-store';
import { describe, expect, it } from 'vitest';
import type { ExperimentTradeOff } from './experiment.ts';
import type { PartResult } from './run-experiment.ts';
import { drawTradeOffTable, tradeOffChart, tradeOffPoints } from './trade-off.ts';

const tradeOff: ExperimentTradeOff = {
  title: 'Right answers by visual tokens',
  about: 'After training.',
  cost: 'eval/visual_tokens/mean',
  costLabel: 'visual tokens per sample',
  gain: 'eval/accuracy',
};
const evaluation = (step: number, cost: number, accuracy: number): MetricsRow => ({
  stage: 'evaluation',
  step,
  label: step === 9 ? 'final' : 'sft',
  'eval/accuracy': accuracy,
  'eval/visual_tokens/mean': cost,
  'eval/count': 100,
});
const training: MetricsRow = { stage: 'rl', step: 5, accuracy: 0.1 };
const part: PartResult['part'] = {
  name: 'part',
  title: 'A part',
  about: 'It asks.',
  from: 'cold-start',
  recipe: 'smoke',
  settings: [],
  variants: [],
  curves: [],
};
const results: readonly PartResult[] = [
  {
    part,
    runs: [
      { label: 'dear', metrics: [evaluation(1, 60, 0.2), training, evaluation(9, 64, 0.5)] },
      { label: 'cheap', metrics: [evaluation(9, 16, 0.25)] },
      { label: 'unfinished', metrics: [training] },
    ],
  },
];

describe('a trade-off', () => {
  it('takes the last evaluation of every run that has one', () => {
    const points = tradeOffPoints(tradeOff, results[0]?.runs ?? []);
    expect(points.map(({ label, cost, gain }) => [label, cost, gain])).toEqual([
      ['dear', 64, 0.5],
      ['cheap', 16, 0.25],
    ]);
    // Wilson's interval of 50 of 100, from R's binom::binom.confint(50, 100, methods = "wilson").
    expect(points[0]?.interval.low).toBeCloseTo(0.4038, 4);
    expect(points[0]?.interval.high).toBeCloseTo(0.5962, 4);
  });

  it('draws a curve a part, from what takes little to what takes much', () => {
    const [series, ...others] = tradeOffChart(tradeOff, results).series;
    expect(others).toEqual([]);
    expect(series?.label).toBe('A part');
    expect(series?.points.map(({ x, y }) => [x, y])).toEqual([
      [16, 0.25],
      [64, 0.5],
    ]);
  });

  it('says the same in a table', () => {
    const table = String(drawTradeOffTable(tradeOff, results).text);
    expect(table).toContain('A part: cheap');
    expect(table).toContain('>64.0<');
    expect(table).toContain('50.0 %');
    expect(table).not.toContain('unfinished');
  });
});
