/** The curves that the report shows, and the evaluations that its headline compares. */
import type { MetricsRow, Stage } from '@saccade/run-store';
import { meaningOf } from '@saccade/run-store/metrics';
import type { Chart, Point, Series } from './charts.ts';
import { formatPercent, wilsonInterval } from './numbers.ts';

/** One evaluation on held-out tasks. */
export interface Evaluation {
  /** `sft`, `step-20`, `final`. */
  readonly label: string;
  /** RL steps done. */
  readonly step: number;
  readonly accuracy: number;
  readonly count: number;
  readonly toolCalls: number;
  readonly turns: number;
}

/** All evaluations in order; one that was done again after a resume counts once. */
export function evaluationsOf(metrics: readonly MetricsRow[]): readonly Evaluation[] {
  const byLabel = new Map<string, Evaluation>();
  const boundary = boundaryOf(metrics);
  for (const row of rowsOf(metrics, 'evaluation')) {
    const label = String(row.label ?? `step ${row.step}`);
    const stepOfRl = numberIn(row, 'eval/step_of_rl');
    byLabel.set(label, {
      label,
      step: Number.isFinite(stepOfRl) ? stepOfRl : row.step - boundary,
      accuracy: numberIn(row, 'eval/accuracy'),
      count: numberIn(row, 'eval/count'),
      toolCalls: numberIn(row, 'eval/tool_calls/mean'),
      turns: numberIn(row, 'eval/turns/mean'),
    });
  }
  return [...byLabel.values()].sort((a, b) => a.step - b.step);
}

/** Step of the whole run at which RL began: the number of SFT updates. */
export function boundaryOf(metrics: readonly MetricsRow[]): number {
  const lastSft = rowsOf(metrics, 'sft').at(-1);
  if (lastSft) return lastSft.step;
  const firstRl = rowsOf(metrics, 'rl')[0];
  return firstRl ? firstRl.step - 1 : 0;
}

/** The rows of one stage, in the order in which they were logged. */
export function rowsOf(metrics: readonly MetricsRow[], stage: Stage): readonly MetricsRow[] {
  return metrics.filter((row) => row.stage === stage);
}

/** A number of a row; NaN where it is missing or was not finite (JSON has no NaN). */
export function numberIn(row: MetricsRow, name: string): number {
  const value: unknown = row[name];
  return typeof value === 'number' ? value : Number.NaN;
}

export function chartsOf(metrics: readonly MetricsRow[]): readonly Chart[] {
  const boundary = boundaryOf(metrics);
  const evaluations = evaluationsOf(metrics);
  const start = { x: 0, label: 'RL starts' };
  const rl = (name: string, label: string): Series => ({
    label,
    kind: 'line',
    color: 1,
    points: pointsOf(rowsOf(metrics, 'rl'), name, boundary),
  });
  const heldOut = (value: (evaluation: Evaluation) => Partial<Point>): Series => ({
    label: 'held-out tasks',
    kind: 'dots',
    color: 2,
    points: evaluations.map((evaluation) => ({ x: evaluation.step, y: 0, ...value(evaluation) })),
  });
  return [
    {
      title: 'Accuracy',
      about: 'Share of answers that are right; bars are 95 % Wilson intervals.',
      xLabel: 'RL step',
      yRange: [0, 1],
      yFormat: (share) => formatPercent(share, 0),
      boundary: start,
      series: [
        rl('accuracy', 'training rollouts'),
        heldOut(({ accuracy, count }) => ({ y: accuracy, ...wilsonInterval(accuracy, count) })),
      ],
    },
    {
      title: 'Reward',
      about: meaningOf('reward'),
      xLabel: 'RL step',
      yRange: [0, 0],
      boundary: start,
      series: [rl('reward', 'reward')],
    },
    {
      title: 'Tool calls',
      about: meaningOf('tool_calls/mean'),
      xLabel: 'RL step',
      yRange: [0, 0],
      boundary: start,
      series: [
        rl('tool_calls/mean', 'training rollouts'),
        heldOut(({ toolCalls }) => ({ y: toolCalls })),
      ],
    },
    {
      title: 'Entropy',
      about: meaningOf('entropy'),
      xLabel: 'RL step',
      yRange: [0, 0],
      boundary: start,
      series: [rl('entropy', 'entropy')],
    },
    {
      title: 'Gradient norm',
      about: meaningOf('grad_norm'),
      xLabel: 'step of the run',
      yRange: [0, 0],
      ...(boundary > 0 && { boundary: { x: boundary, label: 'RL starts' } }),
      series: [
        {
          label: 'cold start (SFT)',
          kind: 'line',
          color: 2,
          points: pointsOf(rowsOf(metrics, 'sft'), 'grad_norm', 0),
        },
        {
          label: 'RL',
          kind: 'line',
          color: 1,
          points: pointsOf(rowsOf(metrics, 'rl'), 'grad_norm', 0),
        },
      ],
    },
    {
      title: 'Cold-start loss',
      about: 'Mean negative log-probability of the demonstrated tokens, nats.',
      xLabel: 'SFT update',
      yRange: [0, 0],
      series: [
        {
          label: 'loss',
          kind: 'line',
          color: 2,
          points: pointsOf(rowsOf(metrics, 'sft'), 'loss', 0),
        },
      ],
    },
    ...errorChart(metrics, boundary, start),
  ];
}

/** VISTA's kinds of errors, as a legend says them. */
const errorLabels = {
  E1: 'E1: schema',
  E2: 'E2: argument name',
  E3: 'E3: argument value',
  E4: 'E4: wrong content',
  E5: 'E5: tool output',
  E6: 'E6: reasoning',
} as const;

/** The kinds of errors that occur, over the steps; no chart for a run without any. */
function errorChart(
  metrics: readonly MetricsRow[],
  boundary: number,
  start: NonNullable<Chart['boundary']>,
): readonly Chart[] {
  const rows = rowsOf(metrics, 'rl');
  const series = Object.entries(errorLabels)
    .map(([kind, label], index): Series => {
      const points = pointsOf(rows, `errors/${kind}`, boundary);
      return { label, kind: 'line', color: index + 1, points };
    })
    .filter(({ points }) => points.some(({ y }) => y > 0));
  if (series.length === 0) return [];
  return [
    {
      title: 'Errors of tool use',
      about: 'Share of wrong training rollouts with an error of each kind; one may have several.',
      xLabel: 'RL step',
      yRange: [0, 1],
      yFormat: (share) => formatPercent(share, 0),
      boundary: start,
      series,
    },
  ];
}

function pointsOf(rows: readonly MetricsRow[], name: string, offset: number): readonly Point[] {
  return rows.map((row) => ({ x: row.step - offset, y: numberIn(row, name) }));
}

/** First, last and range of one metric in one stage. */
export interface MetricSummary {
  readonly stage: Stage;
  readonly name: string;
  readonly rowCount: number;
  readonly first: number;
  readonly last: number;
  readonly least: number;
  readonly most: number;
}

/** Every number of every stage, in the order in which they first appear. */
export function summarize(metrics: readonly MetricsRow[]): readonly MetricSummary[] {
  const found = new Map<string, MetricSummary>();
  for (const row of metrics) {
    for (const [name, value] of Object.entries(row)) {
      if (name === 'step' || typeof value !== 'number') continue;
      const key = `${row.stage} ${name}`;
      const known = found.get(key);
      found.set(key, {
        stage: row.stage,
        name,
        rowCount: (known?.rowCount ?? 0) + 1,
        first: known?.first ?? value,
        last: value,
        least: Math.min(known?.least ?? value, value),
        most: Math.max(known?.most ?? value, value),
      });
    }
  }
  const order: readonly Stage[] = ['sft', 'rl', 'evaluation'];
  return [...found.values()].sort((a, b) => order.indexOf(a.stage) - order.indexOf(b.stage));
}
